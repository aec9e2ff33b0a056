import {
  anyValue,
  either,
  flag,
  integerFrom,
  kept,
  list,
  numberFrom,
  object,
  oneOf,
  readOnce,
  refused,
  text,
  typed,
  type ObjectShape,
  type TypeRule,
} from '../request-shape.ts'

const sendItems = 'this service keeps no state; send all items of the conversation as input'
const elsewhere = 'is state or a tool of one vendor, which this service does not keep'
const fileId = refused('this service keeps no files; send the data or a URL')
const vendors: TypeRule = { because: elsewhere }
const none: TypeRule = { needs: {} }

const textOrList = ['string', 'array'] as const

const part = typed(
  {
    text,
    refusal: text,
    image_url: text,
    file_id: fileId,
    file_data: text,
    file_url: text,
    filename: text,
    detail: text,
    input_audio: object({ data: text, format: text }),
  },
  {
    input_text: { needs: { text: ['string'] } },
    output_text: { needs: { text: ['string'] } },
    refusal: { needs: { refusal: ['string'] } },
    input_image: { needs: { image_url: ['string'] } },
    input_file: none,
    input_audio: { needs: { input_audio: ['object'] } },
  },
)

const parts = either('a string or an array of parts', { string: text, array: list(part) })

/** Text of reasoning: of a summary, or of the reasoning itself. */
const reasoningTexts = list(object({ text }))

const tool: ObjectShape = typed(
  {
    name: text,
    description: text,
    parameters: object({}),
    strict: flag,
    format: object({ syntax: text, definition: text }),
    execution: oneOf('server', 'client'),
    tools: {
      ...list(anyValue),
      get of() {
        return tool
      },
    },
  },
  {
    function: { needs: { name: ['string'] } },
    custom: { needs: { name: ['string'] } },
    namespace: { needs: { name: ['string'], tools: ['array'] } },
    tool_search: none,
    web_search: none,
    web_search_preview: none,
    web_search_preview_2025_03_11: none,
    web_search_2025_08_26: none,
    mcp: vendors,
    computer: vendors,
    computer_use_preview: vendors,
    code_interpreter: vendors,
    file_search: vendors,
  },
)

const tools = list(tool, 0, true)

const item = kept(
  typed(
    {
      role: oneOf('user', 'assistant', 'system', 'developer'),
      content: parts,
      call_id: text,
      name: text,
      namespace: text,
      arguments: anyValue,
      input: anyValue,
      output: parts,
      summary: reasoningTexts,
      encrypted_content: text,
      id: anyValue,
      tools,
    },
    {
      message: { needs: { role: ['string'], content: textOrList } },
      function_call: { needs: { call_id: ['string'], name: ['string'], arguments: ['string'] } },
      function_call_output: { needs: { call_id: ['string'], output: textOrList } },
      custom_tool_call: { needs: { call_id: ['string'], name: ['string'], input: ['string'] } },
      custom_tool_call_output: { needs: { call_id: ['string'], output: textOrList } },
      reasoning: none,
      additional_tools: { needs: { tools: ['array'] } },
      tool_search_call: none,
      tool_search_output: { needs: { tools: ['array'] } },
      item_reference: { because: `names an item that is stored elsewhere: ${sendItems}` },
      compaction: vendors,
      compaction_trigger: vendors,
      program: vendors,
      program_output: vendors,
    },
    'message',
  ),
  ['encrypted_content', 'id'],
  { type: 'reasoning' },
)

const forced: TypeRule = { because: 'is a tool of one vendor and cannot be forced' }

const toolChoice = typed(
  {
    name: text,
    namespace: text,
    mode: oneOf('auto', 'required'),
    tools: list(object({ name: text, namespace: text })),
  },
  {
    function: { needs: { name: ['string'] } },
    custom: { needs: { name: ['string'] } },
    allowed_tools: { needs: { mode: ['string'], tools: ['array'] } },
    web_search: forced,
    web_search_preview: forced,
    web_search_preview_2025_03_11: forced,
    web_search_2025_08_26: forced,
    file_search: forced,
    code_interpreter: forced,
    computer: forced,
    computer_use_preview: forced,
    image_generation: forced,
    mcp: forced,
    programmatic_tool_calling: forced,
  },
)

const answerFormat = typed(
  { name: text, description: text, schema: object({}), strict: flag },
  { text: none, json_object: none, json_schema: { needs: { name: ['string'], schema: ['object'] } } },
)

const textShape = object({
  format: answerFormat,
  verbosity: oneOf('low', 'medium', 'high'),
})

const reasoningShape = readOnce(
  object({
    effort: oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
    summary: oneOf('auto', 'concise', 'detailed', 'none'),
  }),
)

/** The shape of a request (docs/api.md). `model` is read apart. */
export const requestShape = object({
  input: either('a string or an array of items', { string: text, array: list(item, 1) }),
  instructions: text,
  tools,
  tool_choice: either('a string or an object', {
    string: oneOf('none', 'auto', 'required'),
    object: toolChoice,
  }),
  parallel_tool_calls: flag,
  text: textShape,
  reasoning: reasoningShape,
  max_output_tokens: integerFrom(1),
  max_tool_calls: integerFrom(1),
  temperature: numberFrom(0, 2),
  top_p: numberFrom(0, 1),
  top_logprobs: integerFrom(0, 20),
  stream: flag,
  store: flag,
  include: list(text),
  metadata: object({}),
  truncation: oneOf('auto', 'disabled'),
  service_tier: text,
  user: text,
  safety_identifier: text,
  prompt_cache_key: text,
  background: refused('this service keeps no answers; wait for the answer, or stream it', true),
  previous_response_id: refused(sendItems),
  conversation: refused(sendItems),
  prompt: refused('this service keeps no prompts; send the text as instructions and input'),
})
