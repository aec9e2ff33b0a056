const bytesMax = 16

/** The end marker of a stream, `[DONE]`, with white space around it. */
export function isDone(data: Uint8Array): boolean {
  return data.length < bytesMax && new TextDecoder().decode(data).trim() === '[DONE]'
}
