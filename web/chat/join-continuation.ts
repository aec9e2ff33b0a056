/** More than this, said again word for word, is a model that began anew, and no chance. */
const repeatedMin = 24

/**
 * An answer that broke off, and what a model said when it was asked to go on. Some say what was there again before they
 * go on: then it stands there once. While what comes could still be such a repetition, `isEnd` false, only what was
 * there is given.
 */
export function joinContinuation(kept: string, more: string, isEnd: boolean): string {
  const start = kept.trimEnd()
  if (more === '') return kept
  if (start !== '' && more.startsWith(start))
    return more.length > start.length || start.length >= repeatedMin ? atLeast(kept, more) : appended(kept, more)
  if (start.startsWith(more) && !isEnd) return kept
  return start.startsWith(more) && more.length >= repeatedMin ? kept : appended(kept, more)
}

function atLeast(kept: string, more: string): string {
  return more.length < kept.length ? kept : more
}

/** White space is not doubled: it was cut off what the model was sent. */
function appended(kept: string, more: string): string {
  return /\s$/.test(kept) ? kept + more.trimStart() : kept + more
}
