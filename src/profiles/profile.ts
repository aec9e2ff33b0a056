/**
 * What a target takes: a model at a provider. `resolve-profile.ts` combines the entries of `known-profiles.ts` that
 * match it, in their order, then the owner's `profile` of providers.json; `resolve-profile.ts` adds what refusals have
 * taught. Writers of requests ask the profile, never a brand: `formats/chat/fit.ts` and its neighbours change a request
 * only where the profile deviates from {@link anyTarget} and the request has the thing. Then the change is named in
 * `x-svc-dropped` or `x-svc-adjusted`, unless it is of form alone. Else the caller's bytes stay.
 */
export interface TargetProfile {
  /** System messages. `first`: one, at the beginning; later ones are sent as marked user text. `none`: as user text. */
  readonly system: 'any' | 'first' | 'none'
  /** The role `developer`. `system`: sent as `system`. */
  readonly developer: 'keep' | 'system'
  /** User and assistant messages must alternate: neighbours are joined. */
  readonly alternates: boolean
  /** Neighbouring assistant messages are joined. */
  readonly joinsAnswers: boolean
  /** A user message may follow the result of a tool. Otherwise a short assistant message is put between. */
  readonly userAfterTool: boolean
  /** A conversation needs a user message: without one, the last system message is sent as user text. */
  readonly needsUser: boolean
  /** Assistant messages without anything. */
  readonly emptyAnswers: 'keep' | 'drop'
  /** `content` of an assistant message that has only calls. */
  readonly callContent: 'null' | 'text'
  /** Content of texts alone may be a list. Otherwise it is sent as one string. */
  readonly textLists: boolean
  /** Each call must have a result behind it, and each result a call. */
  readonly pairedCalls: boolean
  /** A message may have several calls. Otherwise each has a message of its own, with its result behind it. */
  readonly severalCalls: boolean
  /** Calls of earlier answers need Google's signature: those of others get its placeholder. */
  readonly signedCalls: boolean
  /** Ids of calls. `short`: at most 40 characters. `letters9`: nine letters or digits. `kimi`: `functions.NAME:N`. */
  readonly callIds: 'any' | 'short' | 'letters9' | 'kimi'
  /**
   * A conversation that ends with an assistant message. `continued`: the model continues it. `prefix`: with the member
   * `prefix`. `refused`: a user message must follow. `any`: not known.
   */
  readonly prefill: 'any' | 'continued' | 'prefix' | 'refused'
  /** Top-level fields with another name: the common name → the provider's. */
  readonly rename: Readonly<Record<string, string>>
  /** Top-level fields that are refused; they are left out. In Responses also members of them: `reasoning.summary`. */
  readonly drop: readonly string[]
  /** Members of messages that are refused; they are left out. */
  readonly dropInMessages: readonly string[]
  /** Members of tools that are refused; they are left out. */
  readonly dropInTools: readonly string[]
  /** Top-level fields that are sent where the caller has none. */
  readonly add: Readonly<Record<string, unknown>>
  /** Ranges of sampling fields. Values outside are moved to the nearest end; `refused`: the field is left out. */
  readonly sampling: Readonly<Record<string, SamplingRule>>
  /** Most stop sequences; 0: none are taken. */
  readonly stops: number
  /** Most tools. A request with more is not sent. */
  readonly tools: number
  /** `tools` may be empty, and `tool_choice` and `parallel_tool_calls` may stand without it. */
  readonly emptyTools: boolean
  /** Most characters of a tool's description; longer ones are cut. */
  readonly toolDescription: number
  /** Most tokens of an answer that may be asked for; a higher limit is lowered. */
  readonly maxTokens: number
  /** Least tokens; a lower limit is raised. */
  readonly minTokens: number
  /** Efforts of reasoning that are taken; others are sent as the nearest. Empty: none; `undefined`: all. */
  readonly efforts: readonly ProfileEffort[] | undefined
  /** The field by which reasoning is turned off. */
  readonly effortForm: EffortForm
  /** The model reasons. `optional`: when asked to. `default`: unless told otherwise. */
  readonly thinks: 'unknown' | 'never' | 'optional' | 'default' | 'always'
  /** It may think for minutes before the first event of a stream that has content (failover.md, Timers). */
  readonly silent: boolean
  /**
   * A `tool_choice` that demands a call. `required`: no named tool, so that tool is declared alone. `unthinking`: only
   * without reasoning, which is turned off for the request. `auto`: not at all.
   */
  readonly forcedTool: 'any' | 'required' | 'unthinking' | 'auto'
  /** `strict` of tools and of schemas of answers. */
  readonly strict: 'keep' | 'drop'
  /** Custom tools of chat completions, whose input is a text. `function`: a function with one string is sent. */
  readonly customTools: 'keep' | 'function'
  /** Tools of Responses. `functions`: requests with others are sent as chat completions. */
  readonly responsesTools: 'any' | 'functions'
  /** Subsets of JSON Schema that tools are written in, in this order. */
  readonly toolSchema: readonly SchemaDialect[]
  /** As {@link toolSchema}, for the schema of an answer. */
  readonly answerSchema: readonly SchemaDialect[]
  /**
   * Forms of JSON answers that are taken. `object`: no schema, which becomes an instruction. `schema`: no
   * `json_object`, which becomes a schema of any object. `none`: neither, both become an instruction.
   */
  readonly answerFormat: 'any' | 'object' | 'schema' | 'none'
  /** `json_object` needs the word "JSON" in a message. */
  readonly needsWordJson: boolean
  /** JSON answers may be asked for beside tools. Otherwise an instruction takes their place. */
  readonly jsonBesideTools: boolean
  /** Reasoning of earlier answers. */
  readonly reasoning: ReasoningHistory
  /**
   * `thinking` of Messages. `adaptive`: budgets are refused, efforts take their place. `effort`: the member is refused,
   * there are efforts alone.
   */
  readonly thinkingForm: 'budget' | 'adaptive' | 'effort'
  /** An effort may stand beside thinking that is turned off (Messages). */
  readonly effortWithoutThinking: boolean
  /** Reasoning without a signature is sent back (servers of Messages). */
  readonly unsignedThinking: boolean
  /** The label of an image must be the type of its bytes (Messages). */
  readonly comparesImages: boolean
  /** Most marks of caches, `cache_control` (Messages). The last ones are sent. */
  readonly cacheMarks: number
  /**
   * Marks of caches for requests without any (Messages): none, for five minutes, or for an hour. Only where
   * {@link cacheMinimum} is known.
   */
  readonly promptCache: PromptCache
  /** Least tokens of a prompt that are cached; `Infinity`: not known, and no mark is placed. */
  readonly cacheMinimum: number
  /** `cache_control` in chat completions, as Anthropic has it. */
  readonly takesCacheMarks: boolean
  /** `prompt_cache_key` in chat completions, as Responses have it. */
  readonly takesCacheKey: boolean
  /**
   * Requests that are sent as Responses, where the provider speaks that format. `translated`: those that are translated
   * in any case. Chat requests, too: `effort`, with tools and an effort; `tools`, with tools, unless their effort is
   * `none`; `all`.
   */
  readonly asResponses: 'no' | 'translated' | 'effort' | 'tools' | 'all'
  /**
   * Reasoning in the text of answers, for callers of other formats. `paired`: between `<think>` and `</think>` at the
   * beginning. `closing`: the text begins with it, up to `</think>`.
   */
  readonly thinkTags: 'none' | 'paired' | 'closing'
  /** Usage of streams is reported only with `stream_options.include_usage`, which is then always sent. */
  readonly streamUsage: boolean
}

export type PromptCache = (typeof promptCaches)[number]
export const promptCaches = ['off', 'auto', '1h'] as const

/** `refused`, or the smallest and the largest value. */
export type SamplingRule = 'refused' | readonly [min: number, max: number]
/** From the least to the most. */
export const profileEfforts = ['none', 'minimal', 'low', 'medium', 'default', 'high', 'xhigh', 'max'] as const
export type ProfileEffort = (typeof profileEfforts)[number]
/**
 * Subsets of JSON Schema. `closed`: objects have no further properties. `unbounded`: members that only validate are
 * said in the description, `oneOf` is `anyOf`. `mfjs`: Moonshot's flavor. `rooted`: the outermost schema is an object
 * without unions, and arrays say what their items are.
 */
export type SchemaDialect = (typeof schemaDialects)[number]
export const schemaDialects = ['closed', 'unbounded', 'mfjs', 'rooted'] as const
/** The field by which reasoning is turned off. */
export type EffortForm = 'reasoning_effort' | 'thinking' | 'enable_thinking' | 'chat_template_kwargs'

/**
 * Reasoning in the assistant messages of a request:
 *
 * - `keep`: unchanged
 * - `drop`: removed
 * - `reasoning`, `reasoning_content`: sent under this name
 * - `required`: sent as `reasoning_content`, and as a blank in messages without reasoning
 *
 * All but `keep` remove `reasoning_details` and `thinking_blocks`, which only their maker can read.
 */
export type ReasoningHistory = (typeof reasoningHistories)[number]

export const reasoningHistories = ['keep', 'drop', 'reasoning', 'reasoning_content', 'required'] as const

/** A field of profiles: its value for a target that deviates in nothing, and the value that holds of two. */
interface ProfileField<Value> {
  readonly free: Value
  readonly form: FieldForm
  combine(earlier: Value, later: Value): Value
}

/**
 * The values that an owner may write in providers.json: one of some, or a list of them; a number; names of members of
 * requests; an object of new names, of sampling rules, or of any values by such names.
 */
export type FieldForm =
  | { readonly kind: 'one' | 'list'; readonly values: readonly unknown[] }
  | { readonly kind: 'count' | 'names' | 'renames' | 'ranges' | 'values' }

/** The stricter value holds. @param values the strictest last */
function ranked<const Value>(...values: readonly [Value, ...Value[]]): ProfileField<Value> {
  return {
    form: { kind: 'one', values },
    free: values[0],
    combine: (earlier, later) => (values.indexOf(later) > values.indexOf(earlier) ? later : earlier),
  }
}

/** The later value holds. @param values that of a target that deviates in nothing first */
function latest<const Value>(...values: readonly [Value, ...Value[]]): ProfileField<Value> {
  return { form: { kind: 'one', values }, free: values[0], combine: (_earlier, later) => later }
}

/** The smaller number holds. */
const least: ProfileField<number> = { form: { kind: 'count' }, free: Infinity, combine: Math.min }

/** The larger number holds. */
const most: ProfileField<number> = { form: { kind: 'count' }, free: -Infinity, combine: Math.max }

/** Both lists hold. */
function union<Item>(form: FieldForm = { kind: 'names' }): ProfileField<readonly Item[]> {
  return { form, free: [], combine: (earlier, later) => [...new Set([...earlier, ...later])] }
}

/** Members of both hold, the later ones first. */
function merged<Value>(): ProfileField<Readonly<Record<string, Value>>> {
  return { form: { kind: 'values' }, free: {}, combine: (earlier, later) => ({ ...earlier, ...later }) }
}

/** As {@link merged}; a name that the later one gives is not renamed back. */
const names: ProfileField<TargetProfile['rename']> = {
  form: { kind: 'renames' },
  free: {},
  combine(earlier, later) {
    const kept = Object.entries(earlier).filter(([name]) => !Object.values(later).includes(name))
    return { ...Object.fromEntries(kept), ...later }
  },
}

/** A value must be taken by both. */
const ranges: ProfileField<TargetProfile['sampling']> = {
  form: { kind: 'ranges' },
  free: {},
  combine(earlier, later) {
    const both: Record<string, SamplingRule> = { ...earlier }
    for (const [name, rule] of Object.entries(later)) {
      const known = both[name]
      if (known === 'refused') continue
      both[name] =
        known === undefined || rule === 'refused' ? rule : [Math.max(known[0], rule[0]), Math.min(known[1], rule[1])]
    }
    return both
  },
}

const common: ProfileField<TargetProfile['efforts']> = {
  form: { kind: 'list', values: profileEfforts },
  free: undefined,
  combine: (earlier, later) =>
    earlier === undefined || later === undefined
      ? (earlier ?? later)
      : later.filter((effort) => earlier.includes(effort)),
}

/** The values of each field, and how those of two entries are combined. */
export const profileFields: { readonly [Name in keyof TargetProfile]: ProfileField<TargetProfile[Name]> } = {
  system: ranked('any', 'first', 'none'),
  developer: ranked('keep', 'system'),
  alternates: ranked(false, true),
  joinsAnswers: ranked(false, true),
  userAfterTool: ranked(true, false),
  needsUser: ranked(false, true),
  emptyAnswers: ranked('keep', 'drop'),
  callContent: ranked('null', 'text'),
  textLists: ranked(true, false),
  pairedCalls: ranked(false, true),
  severalCalls: ranked(true, false),
  signedCalls: ranked(false, true),
  callIds: ranked('any', 'short', 'letters9', 'kimi'),
  prefill: latest('any', 'continued', 'prefix', 'refused'),
  rename: names,
  drop: union(),
  dropInMessages: union(),
  dropInTools: union(),
  add: merged(),
  sampling: ranges,
  stops: least,
  tools: least,
  emptyTools: ranked(true, false),
  toolDescription: least,
  maxTokens: least,
  minTokens: most,
  efforts: common,
  effortForm: latest('reasoning_effort', 'thinking', 'enable_thinking', 'chat_template_kwargs'),
  thinks: latest('unknown', 'never', 'optional', 'default', 'always'),
  silent: ranked(false, true),
  forcedTool: ranked('any', 'required', 'unthinking', 'auto'),
  strict: ranked('keep', 'drop'),
  customTools: ranked('keep', 'function'),
  responsesTools: ranked('any', 'functions'),
  toolSchema: union({ kind: 'list', values: schemaDialects }),
  answerSchema: union({ kind: 'list', values: schemaDialects }),
  answerFormat: ranked('any', 'object', 'schema', 'none'),
  needsWordJson: ranked(false, true),
  jsonBesideTools: ranked(true, false),
  reasoning: latest(...reasoningHistories),
  thinkingForm: latest('budget', 'adaptive', 'effort'),
  effortWithoutThinking: ranked(true, false),
  unsignedThinking: ranked(false, true),
  comparesImages: ranked(false, true),
  cacheMarks: least,
  promptCache: latest(...promptCaches),
  cacheMinimum: least,
  takesCacheMarks: ranked(false, true),
  takesCacheKey: ranked(false, true),
  asResponses: ranked('no', 'translated', 'effort', 'tools', 'all'),
  thinkTags: latest('none', 'paired', 'closing'),
  streamUsage: ranked(false, true),
}
