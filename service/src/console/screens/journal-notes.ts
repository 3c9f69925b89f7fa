/** What a person is told whose act has no line in the journal, since its disk is full. */
export const ifUnrecorded = (isJournaled: boolean): string =>
  isJournaled ? '' : ' Tell the operators of the store: the disk of the journal is full, and a restored backup would undo it.';
