import { shape, type Refusal, type Rule, type Shape, type TypeRule } from './check-shape.ts'

const any: Rule = { kind: 'any' }
const text: Rule = { kind: 'string' }
const flag: Rule = { kind: 'boolean' }
const sendItems = 'this service keeps no state; send all items of the conversation as input'
const elsewhere = 'is state or a tool of one vendor, which this service does not keep'
const fileId: Refusal = { kind: 'refused', because: 'this service keeps no files; send the data or a URL' }
const vendors: TypeRule = { kind: 'refused', because: elsewhere }
const none: TypeRule = { needs: {} }

const textOrList = ['string', 'array'] as const

const part: Shape = shape(
  {
    text,
    refusal: text,
    image_url: text,
    file_id: fileId,
    file_data: text,
    file_url: text,
    filename: text,
    detail: text,
    input_audio: { kind: 'object', shape: () => shape({ data: text, format: text }) },
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

const parts: Rule = {
  kind: 'either',
  expected: 'a string or an array of parts',
  rules: { string: text, array: { kind: 'list', of: { kind: 'object', shape: () => part } } },
}

/** Text of reasoning: of a summary, or of the reasoning itself. */
const reasoningTexts: Rule = { kind: 'list', of: { kind: 'object', shape: () => shape({ text }) } }

const tools: Rule = { kind: 'list', of: { kind: 'object', shape: () => tool }, isKept: true }

const tool: Shape = shape(
  {
    name: text,
    description: text,
    parameters: { kind: 'object', shape: () => shape({}) },
    strict: flag,
    format: { kind: 'object', shape: () => shape({ syntax: text, definition: text }) },
    execution: { kind: 'choice', values: ['server', 'client'] },
    tools: { kind: 'list', of: { kind: 'object', shape: () => tool } },
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

const item: Shape = shape(
  {
    role: { kind: 'choice', values: ['user', 'assistant', 'system', 'developer'] },
    content: parts,
    call_id: text,
    name: text,
    namespace: text,
    arguments: any,
    input: any,
    output: parts,
    summary: reasoningTexts,
    encrypted_content: text,
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
    item_reference: { kind: 'refused', because: `names an item that is stored elsewhere: ${sendItems}` },
    compaction: vendors,
    compaction_trigger: vendors,
    program: vendors,
    program_output: vendors,
  },
  'message',
)

const forced: TypeRule = { kind: 'refused', because: 'is a tool of one vendor and cannot be forced' }

const toolChoice: Shape = shape(
  {
    name: text,
    namespace: text,
    mode: { kind: 'choice', values: ['auto', 'required'] },
    tools: { kind: 'list', of: { kind: 'object', shape: () => shape({ name: text, namespace: text }) } },
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

const answerFormat: Shape = shape(
  { name: text, description: text, schema: { kind: 'object', shape: () => shape({}) }, strict: flag },
  { text: none, json_object: none, json_schema: { needs: { name: ['string'], schema: ['object'] } } },
)

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** Rules by member (docs/api.md). `model` is read apart. */
const rules: Readonly<Record<string, Rule>> = {
  input: {
    kind: 'either',
    expected: 'a string or an array of items',
    rules: { string: text, array: { kind: 'list', of: { kind: 'object', shape: () => item }, min: 1 } },
  },
  instructions: text,
  tools,
  tool_choice: {
    kind: 'either',
    expected: 'a string or an object',
    rules: {
      string: { kind: 'choice', values: ['none', 'auto', 'required'] },
      object: { kind: 'object', shape: () => toolChoice },
    },
  },
  parallel_tool_calls: flag,
  text: {
    kind: 'object',
    shape: () => textShape,
  },
  reasoning: {
    kind: 'object',
    shape: () => reasoningShape,
  },
  max_output_tokens: { kind: 'integer', min: 1, max: Number.MAX_SAFE_INTEGER },
  max_tool_calls: { kind: 'integer', min: 1, max: Number.MAX_SAFE_INTEGER },
  temperature: { kind: 'number', min: 0, max: 2 },
  top_p: { kind: 'number', min: 0, max: 1 },
  top_logprobs: { kind: 'integer', min: 0, max: 20 },
  stream: flag,
  store: flag,
  include: { kind: 'list', of: text },
  metadata: { kind: 'object', shape: () => shape({}) },
  truncation: { kind: 'choice', values: ['auto', 'disabled'] },
  service_tier: text,
  user: text,
  safety_identifier: text,
  prompt_cache_key: text,
  background: {
    kind: 'refused',
    because: 'this service keeps no answers; wait for the answer, or stream it',
    onlyTrue: true,
  },
  previous_response_id: { kind: 'refused', because: sendItems },
  conversation: { kind: 'refused', because: sendItems },
  prompt: { kind: 'refused', because: 'this service keeps no prompts; send the text as instructions and input' },
}

const textShape = shape({
  format: { kind: 'object', shape: () => answerFormat },
  verbosity: { kind: 'choice', values: ['low', 'medium', 'high'] },
})

const reasoningShape = shape({
  effort: { kind: 'choice', values: efforts },
  summary: { kind: 'choice', values: ['auto', 'concise', 'detailed', 'none'] },
})

/** The shape of a request. */
export const requestShape: Shape = shape(rules)
