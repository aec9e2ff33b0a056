import type { JsonObject } from '../base/json-value.ts'
import { isObject } from './exact-json.ts'

/** Anthropic's `cache_control` of a message, block, part or tool. Chat completions carry it unchanged. */
export function cacheControlOf({ cache_control }: JsonObject): JsonObject | undefined {
  return isObject(cache_control) ? cache_control : undefined
}
