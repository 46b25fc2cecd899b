# The step of docker/action.yml: crscore with its encoder and all analyzers, for an ordinary user.
# Images by digest, packages by hash; the tags beside the digests are for people.

FROM node:22-trixie-slim@sha256:7b8a0c89c54499bee567618f96578e1a12a800f062fbdbfd1fb6a443fa6f6284 AS node

FROM eclipse-temurin:21-jre@sha256:7a65df4b22d2de92d4e04056e884f3b9122d70b21e2847fd66084278bd0ce037 AS java

FROM python:3.11-slim-trixie@sha256:9534e5a8e315485d4061ed659af0fd78a284c015f9b73661b41d6bab25604534 AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_NO_INPUT=1
WORKDIR /build
COPY requirements requirements
RUN python -m venv --without-pip /opt/crscore \
    && python -m pip install --target /opt/uv --require-hashes --no-deps --only-binary :all: \
        --requirement requirements/installer.lock \
    && /opt/uv/bin/uv pip install --no-config --no-cache --python /opt/crscore/bin/python \
        --require-hashes --no-deps --only-binary :all: --requirement requirements/action.lock
COPY LICENSE README.md pyproject.toml ./
COPY analyzers analyzers
COPY crscore crscore
COPY prompts prompts
ENV CRSCORE_ENCODER_DIR=/opt/crscore/encoder
RUN /opt/uv/bin/uv pip install --no-config --no-cache --python /opt/crscore/bin/python \
        --no-deps --no-build-isolation --no-index . \
    && UV=/opt/uv/bin/uv /opt/crscore/bin/crscore encoder install
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=node /usr/local/lib/node_modules/npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
    && npm_config_cache=/tmp/npm /opt/crscore/bin/crscore analyzers install \
    && rm -rf /tmp/npm

FROM python:3.11-slim-trixie@sha256:9534e5a8e315485d4061ed659af0fd78a284c015f9b73661b41d6bab25604534
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=java /opt/java/openjdk /opt/java/openjdk
COPY --from=build /opt/crscore /opt/crscore
# 1001 is the user of GitHub's hosted runners, who owns the files that take outputs and summary.
RUN ln -s /opt/java/openjdk/bin/java /usr/local/bin/java \
    && ln -s /opt/crscore/bin/crscore /usr/local/bin/crscore \
    && useradd --uid 1001 --create-home crscore
ENV CRSCORE_ENCODER_DIR=/opt/crscore/encoder
USER 1001
# A build that cannot score fails here and not on a pull request.
RUN ["crscore", "doctor"]
WORKDIR /home/crscore
ENTRYPOINT ["/opt/crscore/bin/python", "-I", "-m", "crscore"]
