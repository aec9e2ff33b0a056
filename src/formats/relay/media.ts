import { readHeaderValue } from '../../bytes/header-value.ts'
import type { MediaAnswer } from '../format.ts'

/** Sound, sent as it arrives. */
export const sound: MediaAnswer = {
  contentType: (given) => allowed(given, /^(?:audio\/[a-z0-9][a-z0-9.+-]{0,60}|application\/(?:octet-stream|ogg))$/),
  isStreamed: true,
}

/** Text that is no JSON, such as subtitles. */
export const plainText: MediaAnswer = {
  contentType: (given) => allowed(given, /^(?:text\/(?:plain|vtt|srt)|application\/(?:x-subrip|srt))$/),
  isStreamed: false,
}

const parameterNames = ['charset', 'rate', 'channels', 'codecs']

/** A media type of the pattern, with its known parameters; undefined for others. */
function allowed(given: string, pattern: RegExp): string | undefined {
  const { value = '', parameters } = readHeaderValue(given) ?? {}
  if (!pattern.test(value)) return undefined
  const known = parameterNames.flatMap((name) => {
    const written = parameters?.get(name) ?? ''
    return /^[\w.-]{1,40}$/.test(written) ? [`; ${name}=${written}`] : []
  })
  return [value, ...known].join('')
}
