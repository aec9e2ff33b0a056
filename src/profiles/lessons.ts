import { profileEfforts, type ProfileEffort, type SamplingRule, type TargetProfile } from './profile.ts'

/** A trait of a target that a refusal has shown. */
export interface Lesson {
  /** Of the trait, for trails and metrics: letters, digits, `_`, `.`. */
  readonly name: string
  readonly profile: Partial<TargetProfile>
  /** The refusal is one of a value, so that it holds for this request alone: other values may be taken. */
  readonly isOfValue?: true
}

interface LessonRule {
  readonly name: string
  /** Of the refusal, in its own spelling. */
  readonly words: RegExp
  /** The traits that it teaches. @param found the match of `words`, whose groups may name a member */
  readonly teaches: (found: RegExpExecArray, words: string) => Partial<TargetProfile> | undefined
}

/** A refusal of a thing, in the words of many servers. */
const refusal = `(?:${[
  String.raw`not (?:be )?(?:supported?|allowed|permitted|accepted|valid)`,
  'unsupported|deprecated|unavailable|unknown|unrecognized|unexpected|invalid',
  String.raw`only (?:the default|\S+ is allowed)`,
].join('|')})`
/** Members that only tune the answer. */
const tuning = String.raw`temperature|top_?[pk]|(?:presence|frequency)_?penalty|(?:top_)?logprobs|logit_bias|\bseed\b`

const refused: SamplingRule = 'refused'

/** One of these patterns, in any case. */
function oneOf(...patterns: readonly string[]): RegExp {
  return new RegExp(patterns.join('|'), 'is')
}

/** What words teach that need no further reading. */
function always(name: string, words: RegExp, profile: Partial<TargetProfile>): LessonRule {
  return { name, words, teaches: () => profile }
}

/** Words about a value of one request, such as "must be >= 0" or "invalid token id". */
const ofValue = oneOf(
  String.raw`\b(?:invalid|unsupported|illegal|bad) (?:\w+ )?(?:value|id|type)\b`,
  String.raw`\b(?:must|should|can(?:no|')t) (?:not )?(?:be|have|contain|match)\b|out of range|\bbetween\b`,
  String.raw`\btoo (?:long|short|large|big|small|many|few|high|low)\b|\b(?:blank|empty|whitespace)\b`,
  String.raw`\b(?:at (?:least|most)|(?:greater|less|more) than|limited to|exceeds?)\b|[<>]=?\s*-?\d`,
  String.raw`\b(?:prompt|your request|this request)\b`,
)
/** Words about all values, at this target. */
const ofTarget = oneOf(
  String.raw`\b(?:this|the|reasoning|thinking) (?:model|endpoint|provider|deployment|engine)s?\b|\bmodel \S+ does\b`,
  String.raw`only (?:the default|\S+ is allowed)|deprecated`,
)
/** Words about a limit of tokens that the length of one conversation, or money, leaves. */
const ofLength = oneOf(
  String.raw`context.(?:length|limit|size)|\bprompt\b|\binputs?\W{1,3}(?:tokens|length)|\b(?:your|this) request\b`,
  String.raw`\b(?:messages|together|combined|sum|remaining|afford|credits?|balance)\b`,
)

/** Rules by which something is not sent, though only its value may have been refused. */
const leavingOut: ReadonlySet<string> = new Set([
  ...['sampling', 'stop', 'member', 'inner_member', 'message_member', 'tool_member'],
  ...['forced_tool', 'no_effort'],
])
/** Words of templates, which local servers answer with status 500. */
const ofTemplates: ReadonlySet<string> = new Set([
  ...['system_none', 'system_first', 'roles_alternate', 'user_after_tool', 'developer_role', 'needs_user'],
  ...['call_ids_9', 'paired_calls', 'several_calls', 'call_content', 'text_lists', 'empty_answers'],
  ...['prefix', 'prefill'],
])
/** Rules for models that have another endpoint, which OpenAI says with status 404. */
const ofEndpoints: ReadonlySet<string> = new Set(['tools_as_responses', 'as_responses'])

/**
 * What refusals teach, by their words. Several may hold: the first that changes the request is tried. Sources: the
 * refusals in `test/corpus/wire.jsonl`.
 */
const rules: readonly LessonRule[] = [
  {
    name: 'max_tokens',
    words: oneOf(
      String.raw`max_(?:completion_|output_|new_)?tokens\b.{0,120}?` +
        String.raw`(?:at most|maximum(?: value)?(?: is)?|<=|> |less than(?: or equal to)?|\[\d, ?)\W{0,3}(\d+)`,
    ),
    teaches: ([, most = '0'], words) =>
      Number(most) < 256 || ofLength.test(words) ? undefined : { maxTokens: Number(most) },
  },
  {
    name: 'min_tokens',
    words: /max_(?:completion_|output_)?tokens\b.{0,80}?value >= ?(\d+)/is,
    // A higher one is of this request: it would cost all callers money.
    teaches: ([, least = '0']) => (Number(least) > 1_024 ? undefined : { minTokens: Number(least) }),
  },
  always('tools_as_responses', /function tools.*use \/?v1\/responses/is, { asResponses: 'tools' }),
  always('as_responses', /only (?:be )?supported in \/?v1\/responses/i, { asResponses: 'all' }),
  always('system_none', /system (?:role|message|prompt)s? (?:is |are )?not supported/i, { system: 'none' }),
  always(
    'system_first',
    oneOf(
      String.raw`system message`,
      String.raw`invalid message role: system`,
      String.raw`invalid chat setting`,
      String.raw`role 'system'`,
      String.raw`role.*should be 'user' or 'assistant'`,
      String.raw`after role 'system'`,
    ),
    { system: 'first', developer: 'system' },
  ),
  always(
    'roles_alternate',
    /alternat(?:e|ing)|consecutive (?:user|assistant|messages)|successive (?:user|assistant)/i,
    {
      alternates: true,
      system: 'first',
      userAfterTool: false,
    },
  ),
  always('user_after_tool', /'user' after role 'tool'/i, { userAfterTool: false }),
  always(
    'developer_role',
    oneOf(
      String.raw`developer`,
      String.raw`(?:unexpected|incorrect|invalid|unknown) (?:message )?role`,
      String.raw`discriminator property 'role'`,
      String.raw`tokenization failed`,
    ),
    { developer: 'system' },
  ),
  always('needs_user', /messages illegal|(?:at least one|no) user (?:message|query)|requires a user message/i, {
    needsUser: true,
  }),
  always('limit_name', /max_tokens\W+(?:is )?not supported.*max_completion_tokens/is, {
    rename: { max_tokens: 'max_completion_tokens' },
  }),
  always(
    'limit_name_old',
    new RegExp(`${refusal}\\W.{0,60}max_completion_tokens|max_completion_tokens.{0,40}${refusal}`, 'is'),
    {
      rename: { max_completion_tokens: 'max_tokens' },
    },
  ),
  always('call_ids_9', /tool call ids?.*length (?:of )?9|a-z, A-Z, 0-9.*length/is, { callIds: 'letters9' }),
  always('call_ids_short', /tool_calls?.*id.*(?:too long|maximum length)|id.*string too long/is, { callIds: 'short' }),
  always(
    'paired_calls',
    oneOf(
      String.raw`must be followed by tool`,
      'without `?tool_result',
      'unexpected `?tool_use_id',
      String.raw`no tool (?:call|output) found`,
      String.raw`number of function response parts`,
      String.raw`tool_call_id.*not found`,
      String.raw`insufficient tool messages`,
      String.raw`same number of function calls`,
    ),
    { pairedCalls: true },
  ),
  always('image_types', /using the \S+ media type, but/i, { comparesImages: true }),
  always('cache_marks', /maximum of 4 blocks with cache_control/i, { cacheMarks: 4 }),
  always('prompt_cache', oneOf(String.raw`cache_control\S*:? extra inputs`, `cache_control.{0,40}${refusal}`), {
    promptCache: 'off',
  }),
  always('signed_calls', /missing a `?thought_?signature/i, { signedCalls: true }),
  always('call_content', /content\W+(?:field )?must (?:be a string|not be empty)|role 'assistant' must not be empty/i, {
    callContent: 'text',
  }),
  always(
    'text_lists',
    /should be a valid string|content must be a string|expected (?:a )?string, got (?:a )?(?:list|array)/i,
    {
      textLists: false,
      callContent: 'text',
    },
  ),
  always(
    'empty_answers',
    /invalid assistant message|content=None|empty (?:assistant )?message|must have (?:either )?content/i,
    {
      emptyAnswers: 'drop',
      alternates: true,
    },
  ),
  always('prefix', /assistant with prefix|prefix true/i, { prefill: 'prefix' }),
  always(
    'prefill',
    oneOf(
      String.raw`prefill`,
      String.raw`must end with a user`,
      String.raw`last message must (?:be|have).*user`,
      String.raw`expected last role user`,
      String.raw`2 or more assistant messages`,
    ),
    { prefill: 'refused', joinsAnswers: true },
  ),
  always('reasoning_back', /reasoning_content.*(?:passed back|missing)|missing.*reasoning_content/is, {
    reasoning: 'required',
  }),
  always('thinking_back', /thinking.*must be passed back/is, { unsignedThinking: true }),
  always('adaptive_thinking', /thinking\.type\.enabled.*not supported|use "?thinking\.type\.adaptive/is, {
    thinkingForm: 'adaptive',
  }),
  always('effort_when_off', /cannot be disabled when reasoning_effort/i, { effortWithoutThinking: false }),
  always('forced_tool_thinking', /tool_choice.*(?:thinking|reasoning)|(?:thinking|reasoning).*tool_choice/is, {
    forcedTool: 'unthinking',
  }),
  always('named_tool', /tool_choice.*(?:object|string values|must be a string)|invalid tool_choice type/is, {
    forcedTool: 'required',
  }),
  {
    name: 'forced_tool',
    words: new RegExp(`tool_?choice.*(?:${refusal}|only|parameter)|(?:${refusal}|parameter).*tool_?choice`, 'is'),
    // The choice of a tool that is not declared is the caller's mistake.
    teaches: (_found, words) =>
      /not (?:found|declared|defined|present|in\b|one of)|does not exist|no such/i.test(words)
        ? undefined
        : { forcedTool: 'auto' },
  },
  always('word_json', /must contain the word|word 'json'/i, { needsWordJson: true }),
  always(
    'json_beside_tools',
    /json.*(?:with|beside|and) (?:tools|function calling)|function calling with.*json|response mime type/is,
    {
      jsonBesideTools: false,
    },
  ),
  always('json_schema_only', /must be 'json_schema'|'text', 'json_schema'|json_object.*not supported/is, {
    answerFormat: 'schema',
  }),
  always(
    'json_object_only',
    /response_format type is unavailable|json_schema.*(?:not supported|unavailable|invalid)/is,
    {
      answerFormat: 'object',
      needsWordJson: true,
    },
  ),
  always('schema_closed', /additionalProperties/i, { answerSchema: ['closed'], toolSchema: ['closed'] }),
  always('schema_mfjs', /moonshot flavored|when using anyOf|\$ref expansion|parameters\.type is required/i, {
    toolSchema: ['mfjs'],
  }),
  always(
    'schema_unbounded',
    /(?:minimum|maximum|m(?:in|ax)Length|m(?:in|ax)Items|pattern|oneOf)\W.*(?:not supported|not permitted)/is,
    {
      answerSchema: ['closed', 'unbounded'],
      toolSchema: ['unbounded'],
    },
  ),
  always(
    'function_tools',
    oneOf(
      String.raw`type'? of tool must be`,
      String.raw`\btools?\b.*(?:should be|must be|expected|only|supported)\W+(?:\w+ ){0,3}\W?function`,
      String.raw`unknown variant \W?custom`,
      String.raw`missing required parameter: 'tools\[\d+\]\.function'`,
    ),
    { customTools: 'function', responsesTools: 'functions' },
  ),
  always('strict', new RegExp(`strict\\W.{0,40}${refusal}|${refusal}\\W.{0,40}strict`, 'is'), { strict: 'drop' }),
  always(
    'empty_tools',
    oneOf(
      String.raw`only allowed when \W?tools`,
      String.raw`tools\W.{0,40}(?:empty|too short|at least (?:1|one))`,
      String.raw`(?:empty|too short|at least (?:1|one)).{0,40}\Wtools\b`,
      String.raw`tools\W? must be set`,
    ),
    { emptyTools: false },
  ),
  always('several_calls', /single tool.?calls? at once/i, { severalCalls: false, pairedCalls: true }),
  always(
    'schema_rooted',
    oneOf(
      String.raw`array schema missing items|arrays? type must have items|items\W+missing field`,
      String.raw`(?:schema|parameters).{0,120}at the top level`,
      String.raw`schema must (?:be|have).{0,40}object|input_schema\.type: field required`,
    ),
    { toolSchema: ['rooted'] },
  ),
  {
    name: 'tool_description',
    words: /description.{0,40}too long.*?maximum length (?:of )?(\d+)/is,
    teaches: ([, most = '0']) => (Number(most) < 256 ? undefined : { toolDescription: Number(most) }),
  },
  always('one_sampling', /temperature\W+and\W+top_p\W.{0,40}(?:both|only one)/i, { sampling: { top_p: refused } }),
  {
    name: 'efforts',
    words: /effort.*?(?:supported values are|must be one of|one of|allowed(?: values)?):? ?([\w'", |]+)/is,
    teaches([, list = '']) {
      const efforts = effortsIn(list)
      return efforts.length === 0 ? undefined : { efforts }
    },
  },
  always(
    'no_effort',
    new RegExp(
      `(?:reasoning_?effort|reasoning\\.effort).*${refusal}|(?:${refusal}|not support).*reasoning_?effort`,
      'is',
    ),
    {
      efforts: [],
    },
  ),
  {
    name: 'range',
    words: new RegExp(
      String.raw`(temperature|top_p|(?:presence|frequency)_?penalty).{0,60}?(?:[[(]\s*|between |from )` +
        String.raw`(-?\d(?:\.\d+)?)\s*(?:,|and|to)\s*(-?\d(?:\.\d+)?)`,
      'i',
    ),
    teaches: ([found, member = '', min = '', max = '']) => ({
      sampling: { [snakeCase(member)]: [Number(min) + (found.includes('(') ? 0.01 : 0), Number(max)] },
    }),
  },
  {
    name: 'sampling',
    words: new RegExp(
      `(${tuning}|\\bn\\b)\\W.{0,60}${refusal}|(?:${refusal}|not support)\\W.{0,60}?(${tuning}|'n')`,
      'is',
    ),
    teaches: ([, first, second = '']) => ({ sampling: { [snakeCase(first ?? second).replaceAll("'", '')]: refused } }),
  },
  always('stop', new RegExp(`\\bstop\\b.{0,40}${refusal}|(?:${refusal}|not support).{0,40}\\bstop\\b`, 'is'), {
    stops: 0,
  }),
  {
    name: 'inner_member',
    words: new RegExp(`${refusal}[^.]{0,40}\\b((?:reasoning|text|stream_options)\\.[a-z_]+)\\b`, 'is'),
    teaches: ([, member = '']) => (essential.has(member) ? undefined : { drop: [member] }),
  },
  // Strict servers of Responses say no more. These members are newer than they are.
  always('hosted_tool_members', /this object contains an unsupported field/i, {
    dropInTools: ['search_content_types', 'external_web_access', 'indexed_web_access'],
  }),
  {
    name: 'tool_member',
    words: /tools[.[]\d+\]?\.(?:custom\.|function\.)?(\w+)\W+(?:extra inputs|is not|unknown)/i,
    teaches: ([, member = '']) => (essentialInTools.has(member) ? undefined : { dropInTools: [member] }),
  },
  {
    name: 'message_member',
    words: /messages[.[]\d+\]?\.(\w+)\W+(?:extra inputs|is not permitted|is unsupported|unknown|unsupported)/is,
    teaches: ([, member = '']) => (essentialInMessages.has(member) ? undefined : { dropInMessages: [member] }),
  },
  {
    name: 'member',
    words: oneOf(
      String.raw`(?:unknown name|supplied:|unsupported parameter(?:\(s\))?:|unknown (?:parameter|field):?` +
        '|keyword argument|property|parameter)' +
        String.raw` [^\w\s]?([a-z_]+)\b`,
      String.raw`^.{0,80}?\b([a-z_]+): extra inputs are not permitted`,
    ),
    teaches: ([, first, second]) => droppable(first ?? second ?? ''),
  },
]

function effortsIn(list: string): readonly ProfileEffort[] {
  return profileEfforts.filter((effort) => new RegExp(`\\b${effort}\\b`, 'i').test(list))
}

/** Members without which a request would be another one. */
const essential: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'input', 'instructions', 'contents', 'system', 'prompt'],
  ...['tools', 'functions', 'tool_choice', 'response_format', 'text', 'stream', 'n', 'modalities', 'audio'],
  ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'reasoning.effort', 'text.format'],
])
const essentialInMessages: ReadonlySet<string> = new Set([
  ...['role', 'content', 'tool_calls', 'tool_call_id', 'function_call'],
])
const essentialInTools: ReadonlySet<string> = new Set([
  ...['type', 'name', 'description', 'function', 'parameters', 'input_schema', 'custom', 'format'],
])

function droppable(member: string): Partial<TargetProfile> | undefined {
  return member === '' || essential.has(member) ? undefined : { drop: [member] }
}

function snakeCase(name: string): string {
  const snake = name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase()
  return snake.replace(/^(top)([pk])$/, '$1_$2').replace(/^(presence|frequency)penalty$/, '$1_penalty')
}

/**
 * The lessons of a refusal, by its words.
 *
 * @param status that of a refusal of a request (400, 422): all; 500: words of templates; 404: of other endpoints
 */
export function lessonsOf(words: string, status = 400): readonly Lesson[] {
  const isOfValue = ofValue.test(words) && !ofTarget.test(words)
  return rules.flatMap((rule): readonly Lesson[] => {
    const { name } = rule
    if (!mayTeach(name, status)) return []
    const found = rule.words.exec(words)
    const profile = found === null ? undefined : rule.teaches(found, words)
    if (profile === undefined) return []
    return [isOfValue && leavingOut.has(name) ? { name, profile, isOfValue } : { name, profile }]
  })
}

function mayTeach(name: string, status: number): boolean {
  if (status === 500) return ofTemplates.has(name)
  return status === 404 ? ofEndpoints.has(name) : status === 400 || status === 422
}
