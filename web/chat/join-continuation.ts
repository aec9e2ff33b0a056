/** A repetition of this length is not by chance. */
const repeatedMin = 24

/**
 * Joins an interrupted answer and its continuation. Some models repeat the answer first; the repetition is dropped.
 * Until `isEnd`, text that may still be a repetition is withheld.
 */
export function joinContinuation(text: string, more: string, isEnd: boolean): string {
  const start = text.trimEnd()
  if (more === '') return text
  if (start !== '' && more.startsWith(start))
    return more.length > start.length || start.length >= repeatedMin ? atLeast(text, more) : appended(text, more)
  if (start.startsWith(more) && !isEnd) return text
  return start.startsWith(more) && more.length >= repeatedMin ? text : appended(text, more)
}

function atLeast(text: string, more: string): string {
  return more.length < text.length ? text : more
}

/** The request had no white space at the answer's end, so the model may repeat it. */
function appended(text: string, more: string): string {
  return /\s$/.test(text) ? text + more.trimStart() : text + more
}
