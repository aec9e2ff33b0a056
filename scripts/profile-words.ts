import { profileMember } from '../src/config/file/read-profile.ts'
import type { TargetProfile } from '../src/profiles/profile.ts'

type Words = { readonly [Name in keyof TargetProfile]?: (value: TargetProfile[Name]) => string }

/** What svc does for a value that deviates. Fields that change nothing by themselves have no words. */
const words: Words = {
  system: (value) =>
    value === 'first'
      ? 'one system message, at the beginning; later ones are sent as marked user text'
      : 'system messages are sent as user text',
  developer: () => '`developer` is sent as `system`',
  alternates: () => 'neighbouring messages of one role are joined',
  joinsAnswers: () => 'neighbouring assistant messages are joined',
  userAfterTool: () => 'a short assistant message is put between the result of a tool and a user message',
  needsUser: () => 'without a user message, the last system message is sent as one',
  emptyAnswers: () => 'empty assistant messages are left out',
  callContent: () => 'messages with calls alone have a text as `content`, not `null`',
  textLists: () => 'lists of texts are sent as one string',
  pairedCalls: () => 'each call gets a result behind it, and results without a call are sent as user text',
  severalCalls: () => 'each call gets a message of its own, with its result behind it',
  signedCalls: () => "calls without Google's signature get its placeholder",
  callIds: (value) =>
    ({
      any: '',
      short: 'ids of calls have at most 40 characters',
      letters9: 'ids of calls have nine letters or digits',
      kimi: 'ids of calls are `functions.NAME:N`',
    })[value],
  prefill: (value) =>
    ({
      any: '',
      continued: 'an answer that the request begins is continued, so that broken streams can be resumed',
      prefix: 'an answer that the request begins is marked with `prefix`',
      refused: 'a user message follows an answer that the request begins',
    })[value],
  rename: (value) =>
    Object.entries(value)
      .map(([ours, theirs]) => `\`${ours}\` is sent as \`${theirs}\``)
      .join('; '),
  drop: (value) => `${codes(value)} left out`,
  dropInMessages: (value) => `${codes(value)} of messages left out`,
  dropInTools: (value) => `${codes(value)} of tools left out`,
  add: (value) =>
    Object.entries(value)
      .map(([name, set]) => `\`${name}\` is ${JSON.stringify(set)} if the caller has none`)
      .join('; '),
  sampling: samplingWords,
  stops: (value) => (value === 0 ? '`stop` is left out' : `at most ${value} stop sequences`),
  tools: (value) => `a request with more than ${value} tools is not sent`,
  emptyTools: () => '`tools` that are empty are left out, with `tool_choice` and `parallel_tool_calls`',
  toolDescription: (value) => `descriptions of tools are cut after ${value} characters`,
  maxTokens: (value) => `limits of tokens are lowered to ${value}`,
  minTokens: (value) => `limits of tokens are raised to ${value}`,
  efforts: (value) =>
    value === undefined || value.length === 0
      ? '`reasoning_effort` is left out'
      : `efforts are ${codes(value)}, others are sent as the nearest`,
  effortForm: (value) => `reasoning is turned off by \`${value}\``,
  forcedTool: (value) =>
    ({
      any: '',
      required: 'a forced tool is declared alone, with `tool_choice` `required`',
      unthinking: 'reasoning is turned off for requests that force a tool',
      auto: 'a forced tool is only asked for',
    })[value],
  customTools: () => 'custom tools are sent as functions with one string',
  responsesTools: () => 'Responses with tools other than functions are sent as chat completions',
  strict: () => '`strict` is left out',
  toolSchema: (value) => `schemas of tools are written as ${codes(value)}`,
  answerSchema: (value) => `schemas of answers are written as ${codes(value)}`,
  answerFormat: (value) =>
    ({
      any: '',
      object: 'a schema of the answer becomes an instruction beside `json_object`',
      schema: '`json_object` becomes a schema of any object',
      none: 'JSON answers are asked for in words',
    })[value],
  needsWordJson: () => 'the word "JSON" is added to requests for `json_object`',
  jsonBesideTools: () => 'beside tools, JSON answers are asked for in words',
  reasoning: (value) => `\`reasoning_history\` is \`${value}\``,
  thinkingForm: (value) =>
    value === 'adaptive' ? 'budgets of `thinking` are sent as efforts' : '`thinking` is sent as an effort',
  effortWithoutThinking: () => 'no effort beside `thinking` that is turned off',
  unsignedThinking: () => 'reasoning without a signature is sent back',
  comparesImages: () => 'labels of images are the types of their bytes',
  cacheMarks: (value) => `at most ${value} marks of \`cache_control\` are sent, the last ones`,
  promptCache: (value) =>
    value === 'off'
      ? ''
      : `requests without \`cache_control\` get it, for ${value === '1h' ? 'an hour' : 'five minutes'}`,
  cacheMinimum: (value) => `prompts of ${value} tokens and more are cached`,
  takesCacheMarks: () => '`cache_control` of Messages is sent',
  takesCacheKey: () => '`prompt_cache_key` of Responses is sent',
  asResponses: (value) =>
    ({
      no: '',
      translated: 'requests of other formats are sent as Responses',
      effort: 'requests of other formats, and chat requests with tools and an effort, are sent as Responses',
      tools: 'requests of other formats, and chat requests with tools, are sent as Responses',
      all: 'all requests are sent as Responses',
    })[value],
  thinkTags: (value) =>
    ({
      none: '',
      paired: 'text between `<think>` and `</think>` is reasoning, for callers of other formats',
      closing: 'text before `</think>` is reasoning, for callers of other formats',
    })[value],
  silent: () => 'the first token may take 300 s, since the model thinks in silence',
  streamUsage: () => 'usage of streams is asked for',
}

/** What svc does for the fields of a profile, in their order. */
export function wordsOf(profile: Partial<TargetProfile>): readonly string[] {
  return Object.keys(profile)
    .flatMap((name) => phrase(profile, name))
    .filter((text) => text !== '')
}

function phrase(profile: Partial<TargetProfile>, name: string): readonly string[] {
  if (name === 'thinks') return []
  if (isWorded(name)) return [spoken(profile, name)]
  const value = Object.entries(profile).find(([each]) => each === name)?.[1]
  return [`\`${profileMember(name)}\` is \`${String(value)}\``]
}

function spoken<Name extends keyof TargetProfile>(profile: Partial<TargetProfile>, name: Name): string {
  const value = profile[name]
  return value === undefined && name !== 'efforts' ? '' : (words[name]?.(value as TargetProfile[Name]) ?? '')
}

function isWorded(name: string): name is keyof Words {
  return name in words
}

function codes(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ')
}

function samplingWords(rules: TargetProfile['sampling']): string {
  const refused = Object.entries(rules).flatMap(([name, rule]) => (rule === 'refused' ? [name] : []))
  const ranges = Object.entries(rules).flatMap(([name, rule]) =>
    rule === 'refused'
      ? []
      : [`\`${name}\` is ${rule[0] === rule[1] ? rule[0] : `kept within ${rule[0]} and ${rule[1]}`}`],
  )
  return [...(refused.length === 0 ? [] : [`${codes(refused)} left out`]), ...ranges].join('; ')
}
