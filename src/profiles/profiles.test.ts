import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { brandIds } from '../config/catalogue.ts'
import { knownProfiles } from './known-profiles.ts'
import { lessonsOf } from './lessons.ts'
import { profileFields } from './profile.ts'
import { anyTarget, LearnedProfile, profileAt, withFields } from './resolve-profile.ts'

const at = (brand: string, model: string, protocol = 'openai') => profileAt({ brand, protocol, model })

describe('profiles', () => {
  test('of targets that no entry matches deviate in nothing', () => {
    expect(at('own', 'some-model')).toBe(anyTarget)
  })

  test('of a family hold at each host, by the upstream name in any case', () => {
    for (const [brand, model] of [
      ['vllm', 'Qwen/Qwen3.8-27B'],
      ['fireworks', 'accounts/fireworks/models/qwen3p8'],
      ['own', 'qwen3:8b'],
    ] as const)
      expect(at(brand, model)).toMatchObject({ system: 'first', developer: 'system' })
    expect(at('own', 'qwen3-embedding').system).toBe('any')
  })

  test('of hosts and families are combined, the stricter one in each field', () => {
    expect(at('mistral', 'mistral-large')).toMatchObject({
      callIds: 'letters9',
      reasoning: 'drop',
      rename: { seed: 'random_seed', max_completion_tokens: 'max_tokens' },
    })
    expect(withFields(at('own', 'glm-5'), { sampling: { temperature: [0.5, 2] } }).sampling['temperature']).toEqual([
      0.5, 1,
    ])
  })

  test('of the owner hold as they are, also where they are less strict', () => {
    const target = { brand: 'vllm', protocol: 'openai', model: 'qwen3' }
    expect(profileAt(target, { system: 'any' })).toMatchObject({ system: 'any', developer: 'system' })
  })

  test.each(knownProfiles.map((entry, index) => [`${index}: ${entry.facts.join(', ')}`, entry] as const))(
    'entry %s names facts, sources, brands and fields',
    (_name, { match, facts, sources, profile }) => {
      expect(facts.length).toBeGreaterThan(0)
      for (const source of sources) expect(new URL(source).protocol).toBe('https:')
      for (const brand of match.brands ?? []) expect(brandIds).toContain(brand)
      expect(Object.keys(profile).length).toBeGreaterThan(0)
      for (const name of Object.keys(profile)) expect(name in profileFields).toBe(true)
      for (const name of ['model', 'messages', 'stream']) {
        expect(profile.drop ?? []).not.toContain(name)
        expect(profile.rename ?? {}).not.toHaveProperty(name)
      }
    },
  )
})

describe('a learned profile', () => {
  const lesson = { name: 'system_first', profile: { system: 'first' } } as const

  test('has a lesson for a day, and then the profile before it', () => {
    let now = 1_000
    const learned = new LearnedProfile(anyTarget, () => now)
    learned.remember(lesson)
    expect(learned.current.system).toBe('first')
    now += 86_399_999
    expect(learned.current.system).toBe('first')
    now += 1
    expect(learned.current).toBe(anyTarget)
  })

  test('has the last 16 lessons at most, each once, so that callers cannot make it grow', () => {
    const learned = new LearnedProfile(anyTarget)
    for (let index = 0; index < 40; index++)
      for (const _ of [1, 2]) learned.remember({ name: 'member', profile: { drop: [`n${index}`] } })
    expect(learned.current.drop).toEqual(Array.from({ length: 16 }, (_, index) => `n${index + 24}`))
  })
})

describe('refusals teach', () => {
  test.each([
    ['Jinja Exception: System message must be at the beginning of the chat.', 'system_first', { system: 'first' }],
    ['Roles must alternate user and assistant', 'roles_alternate', { alternates: true }],
    ["unexpected role 'user' after role 'tool'", 'user_after_tool', { userAfterTool: false }],
    ["'top_p' is not supported with this model.", 'sampling', { sampling: { top_p: 'refused' } }],
    [
      'Model x does not support parameter frequencyPenalty.',
      'sampling',
      { sampling: { frequency_penalty: 'refused' } },
    ],
    ['temperature must be in (0, 1]', 'range', { sampling: { temperature: [0.01, 1] } }],
    ['temperature must be between 0 and 1', 'range', { sampling: { temperature: [0, 1] } }],
    ["Invalid reasoning_effort 'max'. Supported values are: 'low', 'high'.", 'efforts', { efforts: ['low', 'high'] }],
    ['Unrecognized request argument supplied: prompt_cache_key', 'member', { drop: ['prompt_cache_key'] }],
    ['betas: Extra inputs are not permitted', 'member', { drop: ['betas'] }],
    [
      'max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you gave more.',
      'max_tokens',
      { maxTokens: 16_384 },
    ],
    ['Invalid max_tokens value, the valid range of max_tokens is [1, 8192]', 'max_tokens', { maxTokens: 8_192 }],
    [
      'max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku',
      'max_tokens',
      { maxTokens: 8_192 },
    ],
    [
      '`max_completion_tokens` is not valid: integer above maximum value, expected a value <= 12288',
      'max_tokens',
      { maxTokens: 12_288 },
    ],
    ['`max_tokens` must be less than or equal to `8192`', 'max_tokens', { maxTokens: 8_192 }],
    [
      "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead.",
      'min_tokens',
      { minTokens: 16 },
    ],
    ["Invalid 'tools': empty array. Expected an array with minimum length 1", 'empty_tools', { emptyTools: false }],
    ["[] is too short - 'tools'", 'empty_tools', { emptyTools: false }],
    ["'tool_choice' is only allowed when 'tools' are specified", 'empty_tools', { emptyTools: false }],
    ['This model only supports single tool-calls at once!', 'several_calls', { severalCalls: false }],
    [
      "Invalid schema for function 'f': In context=('properties', 'a'), array schema missing items",
      'schema_rooted',
      { toolSchema: ['rooted'] },
    ],
    [
      'input_schema does not support oneOf, allOf, or anyOf at the top level',
      'schema_rooted',
      { toolSchema: ['rooted'] },
    ],
    [
      "Invalid 'tools[2].function.description': string too long. Expected a string with maximum length 1024",
      'tool_description',
      { toolDescription: 1_024 },
    ],
    [
      '`temperature` and `top_p` cannot both be specified for this model',
      'one_sampling',
      { sampling: { top_p: 'refused' } },
    ],
    [
      'deepseek-reasoner does not support successive user or assistant messages (messages[1] and messages[2])',
      'roles_alternate',
      { alternates: true },
    ],
    ['Tool call IDs should be alphanumeric strings with length 9!', 'call_ids_9', { callIds: 'letters9' }],
    [
      'tools.0.custom.eager_input_streaming: Extra inputs are not permitted',
      'tool_member',
      { dropInTools: ['eager_input_streaming'] },
    ],
    ["'type' of tool must be 'function'", 'function_tools', { responsesTools: 'functions', customTools: 'function' }],
    ["tools.0.type: Input should be 'function'", 'function_tools', { customTools: 'function' }],
    ['tools[0].type: unknown variant `custom`, expected `function`', 'function_tools', { customTools: 'function' }],
    ['A maximum of 4 blocks with cache_control may be provided. Found 5.', 'cache_marks', { cacheMarks: 4 }],
    [
      'The image was specified using the image/png media type, but the image appears to be a image/jpeg image',
      'image_types',
      { comparesImages: true },
    ],
    ['Argument not supported on this model: reasoning.summary', 'inner_member', { drop: ['reasoning.summary'] }],
    [
      'This object contains an unsupported field.',
      'hosted_tool_members',
      { dropInTools: ['search_content_types', 'external_web_access', 'indexed_web_access'] },
    ],
  ] as const)('%s', (words, name, profile) => {
    expect(lessonsOf(words).find((lesson) => lesson.name === name)?.profile).toMatchObject(profile)
  })

  test('no limit of tokens by the length of one conversation', () => {
    const words =
      "'max_tokens' is too large: 64000. This model's maximum context length is 64001 tokens and your request " +
      'has 24235 input tokens (64000 > 64001 - 24235).'
    expect(lessonsOf(words).filter(({ name }) => name === 'max_tokens')).toEqual([])
  })

  test.each([
    ["'max_tokens' is too large: 8000. Your request has 8000 input tokens; the maximum value is 192."],
    ['max_tokens must be at most 20 for a prompt of this length'],
    ['`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 4000 `inputs` tokens and 512 `max_new_tokens`'],
    ['max_tokens: you can only afford at most 1234 with your remaining credits'],
  ])('no limit of tokens by "%s"', (words) => {
    expect(lessonsOf(words).filter(({ name }) => name === 'max_tokens')).toEqual([])
  })

  test.each([
    ['Invalid value for seed: must be >= 0', true],
    ['stop: stop sequences must not be blank, invalid', true],
    ["Invalid value for parameter service_tier: 'bogus'", true],
    ['logit_bias: invalid token id 99999999', true],
    ['top_logprobs: 21 is invalid, must be between 0 and 5', true],
    ["Unsupported value: 'temperature' does not support 0.2 with this model.", false],
    ['invalid temperature: only 1 is allowed for this model', false],
    ['`temperature` is deprecated for this model.', false],
    ["Unsupported parameter: 'logprobs' is not supported", false],
    ['property "seed" is unsupported', false],
  ])('for one request alone what is said of its value: %s', (words, isOfValue) => {
    const lessons = lessonsOf(words)
    expect(lessons.length).toBeGreaterThan(0)
    for (const lesson of lessons) expect(lesson.isOfValue ?? false).toBe(isOfValue)
  })

  test('nothing of the choice of a tool that the request does not declare', () => {
    expect(lessonsOf("Invalid value: tool_choice: tool 'zz' was not found in tools")).toEqual([])
  })

  test('nothing about members without which the request would be another one', () => {
    for (const member of ['messages', 'tools', 'model', 'response_format', 'stream'])
      for (const words of [`Unknown parameter: '${member}'`, `${member}: Extra inputs are not permitted`])
        expect(lessonsOf(words).flatMap(({ profile }) => profile.drop ?? [])).toEqual([])
  })

  test.each([
    ['tools.0.parameters is not a valid schema'],
    ['messages[1].content: is unsupported'],
    ['messages[1].tool_calls is unsupported'],
    ['Unsupported parameter: text.format'],
    ['max_tokens is too large: at most 20'],
    ["Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 100000"],
    ['description too long, maximum length 10'],
  ])('nothing that would make other requests of all callers: %s', (words) => {
    expect(lessonsOf(words)).toEqual([])
  })

  test('in bounded time, by any words', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 4_000, unit: 'binary' }), (words) => {
        const started = performance.now()
        lessonsOf(`max_tokens temperature system message ${words} not supported`)
        return performance.now() - started < 50
      }),
    )
  })
})
