import {
  anyValue,
  flag,
  integerFrom,
  kept,
  list,
  numberFrom,
  object,
  oneOf,
  readOnce,
  tagged,
  text,
  textOr,
  type ObjectShape,
  type Shape,
} from '../request-shape.ts'

const cacheControl = object({ type: text, ttl: text }, ['type'])

/** A block: its members, of which the first ones are required. */
function block(required: Readonly<Record<string, Shape>>, optional: Readonly<Record<string, Shape>> = {}): ObjectShape {
  return object({ ...required, ...optional, cache_control: cacheControl }, Object.keys(required))
}

const textBlock = block({ text })
const source = tagged(
  {
    base64: object({ media_type: text, data: text }, ['media_type', 'data']),
    url: object({ url: text }, ['url']),
    text: object({ media_type: text, data: text }, ['data']),
    content: object({ content: textOr(list(anyValue)) }, ['content']),
    file: object({ file_id: text }, ['file_id']),
  },
  true,
)
const mediaBlocks = {
  image: block({ source }),
  document: block({ source }, { title: text, context: text }),
  search_result: block({ source: text, title: text, content: list(tagged({ text: textBlock }, true)) }),
}

/** Contents of messages. Blocks of other types (of tools that ran at Anthropic, and new ones) only need their type. */
const contentBlock = tagged(
  {
    text: textBlock,
    ...mediaBlocks,
    thinking: kept(block({ thinking: text }, { signature: text }), ['signature']),
    redacted_thinking: kept(block({ data: text }), ['data']),
    tool_use: block({ id: text, name: text, input: object({}) }),
    tool_result: block(
      { tool_use_id: text },
      { content: textOr(list(tagged({ text: textBlock, ...mediaBlocks }, true))), is_error: flag },
    ),
  },
  true,
)

const message = object({ role: oneOf('user', 'assistant', 'system'), content: textOr(list(contentBlock)) }, [
  'role',
  'content',
])

const tool = object({
  type: text,
  name: text,
  description: text,
  input_schema: object({}),
  strict: flag,
  defer_loading: flag,
  cache_control: cacheControl,
})

const once = { disable_parallel_tool_use: flag }

/** The shapes of top-level fields but `model` and `stream` (https://platform.claude.com/docs/en/api/messages). */
export const requestShapes: Readonly<Record<string, Shape>> = {
  messages: list(message, 1),
  // 0 fills the cache without an answer.
  max_tokens: integerFrom(0),
  system: textOr(list(tagged({ text: textBlock }, false))),
  stop_sequences: list(text),
  metadata: object({ user_id: text }),
  temperature: numberFrom(0, 1),
  top_p: numberFrom(0, 1),
  top_k: integerFrom(0),
  tools: list(tool),
  tool_choice: tagged(
    { auto: object(once), any: object(once), none: object({}), tool: object({ name: text, ...once }, ['name']) },
    false,
  ),
  thinking: tagged(
    {
      enabled: readOnce(object({ budget_tokens: integerFrom(1_024), display: text }, ['budget_tokens'])),
      adaptive: readOnce(object({ display: text })),
      disabled: readOnce(object({})),
    },
    true,
  ),
  output_config: readOnce(
    object({
      // Anthropic has neither `none` nor `minimal`; clients of several makers send them.
      effort: oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
      format: tagged({ json_schema: object({ schema: object({}) }, ['schema']) }, false),
    }),
  ),
  service_tier: oneOf('auto', 'standard_only'),
  cache_control: cacheControl,
}
