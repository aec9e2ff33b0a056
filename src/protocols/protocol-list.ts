import { anthropic } from './anthropic.ts'
import { gemini } from './gemini.ts'
import { openai } from './openai.ts'
import type { Protocol } from './protocol.ts'

/** Every protocol of upstreams, by its name in the configuration. */
export const protocols: Readonly<Record<'openai' | 'anthropic' | 'gemini', Protocol>> = { openai, anthropic, gemini }
