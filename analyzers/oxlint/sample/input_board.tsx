import { createContext, useEffect, useState } from 'react';

const Shared = createContext({});

enum Level {
  Low = 1,
  High = 1,
}

interface Point {
  x: number;
}

class Point {
  y = 2;
}

interface Shape {
  new (): Shape;
}

export function parse(text: any, size: String, low: Level): Shape {
  // @ts-ignore
  const value = text!!.length;
  const other = text?.length!;
  return value! == other && size && low;
}

export function Board(props: { rows: Point[]; html: string; open: boolean }) {
  const [count, setCount] = useState(0);
  if (props.open) {
    useEffect(() => {
      setCount(count + 1);
    }, []);
  }
  useEffect(() => {
    setCount(props.rows.length + count);
  }, [props.rows]);
  const Row = () => <li>{count}</li>;
  return (
    <Shared.Provider value={{ count }}>
      // the rows
      <ul className="a" className="b">
        {props.rows.map((row) => (
          <li>{row.x}</li>
        ))}
        {props.rows.map((row, index) => (
          <li key={index}>{row.x}</li>
        ))}
        <Row />
      </ul>
      <a href="https://example.org" target="_blank">
        more
      </a>
      <a href="javascript:void(0)">close</a>
      <div dangerouslySetInnerHTML={{ __html: props.html }} />
      <br>text</br>
    </Shared.Provider>
  );
}

type Rows = Point[];
