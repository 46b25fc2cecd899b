from crscore.lab.training.data import judged_sentences


def test_folds_are_of_groups_and_all_in_use() -> None:
    folds = [judged_sentences.fold_of(str(at)) for at in range(200)]
    assert set(folds) == set(range(judged_sentences.FOLDS))
    assert folds == [judged_sentences.fold_of(str(at)) for at in range(200)]


def test_shipped_judgements_and_bank_can_be_read() -> None:
    assert len(judged_sentences.read_judgements()) > 1_000
    bank = judged_sentences.read_bank()
    assert len({sentence.text for sentence in bank}) == len(bank)
