import { buildInlines } from './build-inlines.ts'
import type { Definitions } from './definitions.ts'
import type { Inline } from './inline.ts'
import { readTokens } from './read-tokens.ts'

/** Parses inline text in linear time. */
export function readInline(text: string, definitions: Definitions): readonly Inline[] {
  return buildInlines(readTokens(text, definitions))
}
