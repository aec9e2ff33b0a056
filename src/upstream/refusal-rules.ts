import type { FailureClass, FailureScope } from '../service/failure.ts'

/** One of them has to match. */
type Patterns = RegExp | readonly RegExp[]

/**
 * A rule for refusals of providers, with its evidence (docs/contributing/refusals.md). It has either codes or words.
 * Texts are read as sentences in plain words (`classify.ts`).
 */
export interface RefusalRule {
  readonly id: string
  readonly class: FailureClass
  /** Default: that of the class. */
  readonly scope?: FailureScope
  /** Ids of brands; a rule for bare numbers needs them. */
  readonly brands?: readonly string[]
  /** HTTP statuses; a single digit stands for its hundred. Default: any but 402 and 413, which say enough. */
  readonly statuses?: readonly number[]
  /** One of the codes, types or reasons has one of these. `_`, `-`, `.` and `CamelCase` are blanks in it. */
  readonly code?: Patterns
  /** A sentence, or a code, has these words. */
  readonly words?: Patterns
  /** The same sentence has these words too. */
  readonly near?: Patterns
  /** The same sentence has none of these. */
  readonly not?: Patterns
  /** The whole text has none of these. */
  readonly unless?: Patterns
  /** Rules of other classes that come first where both apply. */
  readonly after?: readonly string[]
  /** Where the refusal was reported or documented. */
  readonly sources: readonly string[]
  /** Lines of test/corpus/errors.jsonl that it makes right. */
  readonly lines: readonly string[]
}

const brief: Patterns = [
  /\bper (?:min|sec|hour)|\/ ?min|\brpm\b|\btpm\b|\bqps\b/,
  /e\.g\. check quota|(?<!usage )limit reached for|token quota exceeded/,
]

/** A rule for codes that are bare numbers. */
function ofBrand(
  brand: string,
  failure: FailureClass,
  code: RegExp,
  sources: readonly string[],
  lines: readonly string[],
): RefusalRule {
  return { id: `${brand}-${failure}`, class: failure, brands: [brand], code, sources, lines }
}

/** The first rule that applies counts: codes of a brand, general codes, phrases, then grammar. */
export const refusalRules: readonly RefusalRule[] = [
  ofBrand(
    'zai',
    'quota',
    /^(?:1113|1309|1310)$/,
    ['continuedev/continue#11823', 'zai-org/feedback#789'],
    ['F083', 'F084', 'F085'],
  ),
  ofBrand('zai', 'credential', /^(?:1110|1111|1112|1220)$/, ['docs.bigmodel.cn/cn/api/api-code'], ['F125', 'F126']),
  ofBrand('zai', 'model_gone', /^(?:1211|1311)$/, ['docs.bigmodel.cn/cn/api/api-code'], ['F142', 'F143']),
  ofBrand('zai', 'rate_limit', /^1308$/, ['dirge-code/dirge#818'], ['F199']),
  ofBrand('zai', 'context_length', /^1261$/, ['docs.bigmodel.cn/cn/api/api-code'], ['F035', 'F036']),
  ofBrand('zai', 'content_policy', /^1301$/, ['docs.bigmodel.cn/cn/api/api-code'], ['F008', 'F009']),
  ofBrand('minimax', 'content_policy', /^(?:1026|1027)$/, ['platform.minimax.io documentation'], ['F013', 'F014']),
  ofBrand('minimax', 'quota', /^1008$/, ['platform.minimax.io documentation'], ['F087']),
  ofBrand('minimax', 'rate_limit', /^(?:1002|1039)$/, ['platform.minimax.io documentation'], ['F200']),
  ofBrand('siliconflow', 'model_gone', /^(?:30003|20012)$/, ['siliconflow'], ['F145', 'F146']),
  ofBrand(
    'cloudflare-workers-ai',
    'quota',
    /^3036$/,
    ['cloudflare-docs workers-ai/platform/errors.mdx'],
    ['F103', 'F104'],
  ),

  {
    id: 'policy-code',
    class: 'content_policy',
    statuses: [400, 403, 421, 422, 451],
    code: [
      /^(?:content (?:policy|filter|policy violation)|safety|moderation|prohibited content|cyber policy)$/,
      /^(?:data inspection failed|responsible ai ?policy ?violation|censorship blocked|new sensitive)$/,
    ],
    sources: ['openai/codex#43131', 'stanford-crfm/helm#3327'],
    lines: ['F002', 'F005', 'F016'],
  },
  {
    id: 'model-budget',
    class: 'quota',
    scope: 'model',
    words: /\b(?:budget|quota|credits?|spend(?:ing)? limit) (?:limit )?for (?:the |this )?model\b/,
    near: /exceed|used up|exhausted|reached/,
    unless: brief,
    sources: ['docs.litellm.ai/docs/proxy/users'],
    lines: ['F233'],
  },
  {
    id: 'quota-code',
    class: 'quota',
    code: [
      /^(?:insufficient|not enough) (?:user )?(?:quota|credits?|balance|funds)$/,
      /^(?:account )?(?:quota|budget) exceeded$|^exceeded current quota error$|^service quota exceeded exception$/,
      /^billing (?:error|hard limit reached)$|^credit (?:limit|balance exhausted)$|^payment required$|^arrearage$/,
      /^account overdue(?: error)?$|^usage limit reached$/,
    ],
    unless: brief,
    sources: ['transitive-bullshit/agentic#639', 'MoonshotAI/Kimi-K2#5'],
    lines: ['F066', 'F079', 'F100'],
  },
  {
    id: 'free-tier-code',
    class: 'quota',
    scope: 'model',
    code: /^allocation quota free tier only$|^set limit exceeded$/,
    sources: ['666ghj/BettaFish#609', 'volcengine documentation of errors'],
    lines: ['F081', 'F099'],
  },
  {
    id: 'length-code',
    class: 'context_length',
    code: [
      /^context (?:length|window) exceeded$|^exceed context size error$|^request too large$|^prompt too long$/,
      /^(?:model )?max (?:prompt )?tokens exceeded$/,
    ],
    sources: ['bytedance/deer-flow#310', 'oobabooga/textgen#7257'],
    lines: ['F025', 'F026', 'F051'],
  },
  {
    id: 'model-code',
    class: 'model_gone',
    code: [
      /^(?:unknown|invalid|restricted) models?$|^deployment not found$|^(?:key|team) model access denied$/,
      /^model (?:not (?:found|supported|available|open)|decommissioned|deprecated|access denied|terms required)$/,
      /^model permission blocked (?:project|org)$|^unsupported api for model$/,
    ],
    sources: ['huggingface/smolagents#2584', 'microsoft/vscode#282890'],
    lines: ['F147', 'F148', 'F149'],
  },
  {
    id: 'key-code',
    class: 'credential',
    code: [
      /^(?:invalid api key|api key invalid|invalid subscription|account deactivated|failed to auth)$/,
      /^(?:invalid )?authentication error$|^unauthenticated$|^(?:expired token|unrecognized client) exception$/,
    ],
    sources: ['openai documentation', 'Gemini API documentation'],
    lines: ['F112', 'F119', 'F121'],
  },
  {
    id: 'region-code',
    class: 'credential',
    scope: 'provider',
    code: /^unsupported country region territory$/,
    sources: ['continuedev/continue#11449'],
    lines: ['F114'],
  },
  {
    id: 'overload-code',
    class: 'overloaded',
    code: /^(?:server (?:is )?overloaded|overloaded error|model not ready exception|capacity exceeded)$/,
    statuses: [429, 5],
    sources: ['zyycn/codex-proxy-rs#90', 'AWS documentation of errors'],
    lines: ['F205', 'F206', 'F208'],
  },
  {
    id: 'model-failed-code',
    class: 'server_error',
    code: /^model (?:stream )?error exception$/,
    sources: ['AWS documentation of errors'],
    lines: ['F209'],
  },

  {
    id: 'modality',
    class: 'bad_request',
    words: [
      /image (?:input|url|content)|input image|\bimages\b|support (?:image|vision|audio|video)/,
      /(?:audio|video|file) input|input audio|audio content|video url|multi ?modal|modality|'image_url'/,
    ],
    near: [
      /not support|unsupported|not enabled|not allowed|not accept|not a multi|not compiled for/,
      /only supported by|no endpoints found that support|missing data required for|unknown variant/,
      /at most \d/,
    ],
    sources: ['llama.cpp'],
    lines: ['F180'],
  },
  {
    id: 'parameter',
    class: 'bad_request',
    statuses: [400, 403, 404, 422, 5],
    words: [
      /\b(?:unknown|unrecognized|unsupported) (?:request )?(?:param(?:eter)?s?|argument|field|value)\b/,
      /\b(?:unexpected|invalid) (?:request )?(?:param(?:eter)?s?|argument|field|value)\b/,
      /\bsafety settings?\[|extra inputs are not permitted|^(?:tools|functions|messages|system|body)\.\w+/,
      /(?:array|string) too long/,
    ],
    not: [/\binput length|'?inputs?'? tokens|\bcontext\b|prompt \(/],
    sources: ['mnfst/llm-gateway#1849', 'dnakov/anon-kode#53'],
    lines: ['F161', 'F169', 'F173'],
  },
  {
    id: 'output-limit',
    class: 'bad_request',
    statuses: [400, 403, 422, 5],
    words: /max[ _](?:(?:completion|output|new)[ _])?tokens|output tokens|maximum tokens/,
    near: /exceed|must be|too large|less than|greater than|valid range|maximum|lower|at most|>/,
    not: [
      /\b(?:inputs?|prompt|context(?! window'? for this model| window$)|messages|conversation|sequence)\b/,
      /\b(?:too many tokens|resulted)\b/,
    ],
    sources: ['skapadia3214/groq-moa#8', 'charmbracelet/crush#946'],
    lines: ['F164', 'F165', 'F184'],
  },
  {
    id: 'content-risk',
    class: 'content_policy',
    statuses: [400, 403, 406, 412, 421, 422, 446, 451, 498, 5],
    words: /\b(?:content|input|prompt|output|request|messages?|text|image|response|conversation|generation)\b/,
    near: [
      /\bflagged\b|\bviolat|inappropriate|\bunsafe|(?<!')sensitive|prohibited|harmful|\brisk\b|disallowed/,
      /objectionable|indecent|illegal content|infringement/,
    ],
    not: [
      /\bip address|your ip\b|\brate\b|account|organi[sz]ation|api\b|schema|constraint|data policy|insensitive/,
      /(?:case|time) sensitive|\bjson\b|\bformat\b/,
    ],
    sources: ['BeehiveInnovations/pal-mcp-server#178', 'theopenco/llmgateway#1785'],
    lines: ['F001', 'F006', 'F007'],
  },
  {
    id: 'content-blocked',
    class: 'content_policy',
    statuses: [400, 403, 406, 412, 421, 422, 446, 451, 498],
    words: [
      /content (?:policy|filter|management|moderation|restriction|security)|responsible ai/,
      /safety (?:system|filter|polic|reason)|requires moderation|moderation block|data inspection failed/,
      /(?:blocked|rejected|refused|filtered|stopped) (?:for|by|due|because)(?: \w+){0,3} (?:safety|moderation|content)/,
      /usage (?:guidelines|polic)|guardrail (?:checks|intervened|violat|blocked)/,
      /(?:content|output|prompt|input|response)\b[^.]{0,60}\b(?:blocked|censored|filtered)/,
    ],
    not: /\bip\b|account|organi[sz]ation|\bapi\b|unknown parameter|no endpoints|data policy/,
    sources: ['anthropics/claude-code#58367', 'anthropics/claude-code#37547'],
    lines: ['F003', 'F004', 'F021'],
  },
  {
    id: 'content-risk-zh',
    class: 'content_policy',
    statuses: [400, 403, 421, 422, 451, 5],
    words: /敏感|违规|不当内容|不安全|内容安全|内容审核|违反/,
    near: /内容|输入|输出|提示|文本/,
    sources: ['docs.bigmodel.cn/cn/api/api-code'],
    lines: ['F010'],
  },

  {
    id: 'region',
    class: 'credential',
    scope: 'provider',
    words: /\b(?:location|country|region|territory)\b/,
    near: /not (?:be )?(?:supported|available|allowed|permitted)|unsupported|restricted/,
    not: /\bmodel|inference profile|deployment/,
    sources: ['google-gemini/gemini-cli#1993', 'google-gemini/gemini-cli#24641'],
    lines: ['F117', 'F118'],
  },
  {
    id: 'plan-without-model',
    class: 'model_gone',
    statuses: [400, 401, 403, 404],
    words: /\bmodels?\b.{0,80}\b(?:plan|subscription|tier)\b|\b(?:plan|subscription|tier)\b.{0,80}\bmodels?\b/,
    near: /not (?:include|available|supported|have access|allowed)|only available|requires? an? |no access/,
    sources: ['ollama cloud'],
    lines: ['F157'],
  },
  {
    id: 'long-context-credit',
    class: 'quota',
    scope: 'model',
    words: /extra usage is required|extra usage.*long context|long context.*extra usage/,
    sources: ['anthropics/claude-code#50784'],
    lines: ['F070'],
  },
  {
    id: 'usage-limit-of-model',
    class: 'quota',
    scope: 'model',
    words: /usage limit reached for/,
    not: /\bplan\b/,
    sources: ['google-gemini/gemini-cli#22643'],
    lines: ['F355'],
  },
  {
    id: 'free-tier-none',
    class: 'quota',
    scope: 'model',
    statuses: [400, 403, 429],
    words: /free tier/,
    near: /limit: 0\b|exhausted|of the model|no longer/,
    sources: ['google-gemini/gemini-cli#22486'],
    lines: ['F071'],
  },
  {
    id: 'tokens-per-day',
    class: 'quota',
    scope: 'model',
    words: /too many tokens per day/,
    sources: ['AWS documentation of quotas'],
    lines: ['F074'],
  },
  {
    id: 'money',
    class: 'quota',
    words: [
      /\b(?:credits?|(?<!load )balance|quota|billing|budget|spend(?:ing)?|allowance|allocation|funds|arrears)\b/,
      /\b(?:pre ?pa(?:id|yment)|payment|invoices?|usage limits?|extra usage|monthly limit|key limit)\b/,
    ],
    near: [
      /insufficient|not enough|exhausted|depleted|exceed|used (?:up|all)|out of|ran out|run out|over budget|crossed/,
      /reach(?:ed|ing)|\bhit\b|too low|\badd (?:more )?(?:credits|funds)|expired|overdue/,
      /past due|negative|not sufficient|unpaid|recharge|top up/,
      /hard limit|purchase|no (?:remaining )?credits|check your billing|billing (?:failed|not)/,
    ],
    not: [
      /requests? per|tokens per|\bgpu\b|disk|storage|rate limit|context|output tokens|max[ _]tokens|hourly/,
      /thinking|reasoning|'[^']*quota|parameter|argument/,
    ],
    unless: brief,
    after: ['parameter'],
    sources: ['OpenRouterTeam/ai-sdk-provider#428', 'Conway-Research/automaton#29'],
    lines: ['F062', 'F068', 'F072'],
  },
  {
    id: 'limit-of-days',
    class: 'quota',
    words: /(?:daily|weekly|monthly) (?:\w+ ){0,2}(?:limit|quota|cap)\b/,
    near: /reached|exceed|exhausted|used up/,
    unless: brief,
    sources: ['cloud.baidu.com documentation'],
    lines: ['F232'],
  },
  {
    id: 'overdue',
    class: 'quota',
    words: [
      /\baccount\b[^.]{0,40}(?:overdue|in arrears|good standing)|arrearage|\bcredit limit\b|enable billing/,
      /payment method|credit card|add a card|top up your|recharge/,
    ],
    unless: brief,
    sources: ['vercel documentation of AI Gateway'],
    lines: ['F229'],
  },
  {
    id: 'money-zh',
    class: 'quota',
    words: [
      /余额不足|欠费|额度(?:不足|失败|[已耗]?用?[尽完])|套餐已到期|使用上限/,
      /配额(?:不足|已用|超)|无可用资源包|请充值/,
    ],
    not: /小时|分钟/,
    sources: ['songquanpeng/one-api'],
    lines: ['F227'],
  },

  {
    id: 'account-closed',
    class: 'credential',
    words: /\b(?:account|organi[sz]ation|project|api key|key|consumer|user)\b/,
    near: [
      /(?:has been|is|was|been) (?:disabled|suspended|deactivated|locked|closed|banned|terminated|revoked)/,
      /(?:has been|is|was|been) (?:blocked|not active|deleted)/,
    ],
    not: /\bmodel\b|'[^']*' is (?:disabled|blocked)/,
    after: ['quota-code', 'money'],
    sources: ['anthropic API'],
    lines: ['F115'],
  },
  {
    id: 'account-closed-zh',
    class: 'credential',
    words: /账[户号](?:已|被)*(?:被锁定|锁定|封禁|停用|禁用)/,
    sources: ['docs.bigmodel.cn/cn/api/api-code'],
    lines: ['F228'],
  },

  {
    id: 'tokens-per-minute-request',
    class: 'context_length',
    statuses: [400, 429],
    words: /request too large for/,
    near: /tokens per min|\btpm\b/,
    sources: ['continuedev/continue#11717'],
    lines: ['F027'],
  },
  {
    id: 'context-words',
    class: 'context_length',
    statuses: [400, 403, 404, 422, 5],
    words: [
      /context (?:length|window|size|limit)|maximum context/,
      /max(?:imum)? (?:supported )?(?:sequence|prompt|input|model|seq) ?len(?:gth)?/,
      /max[ _](?:seq|model|input|prompt)[ _](?:len|tokens)|too many (?:input )?tokens|reduce the length/,
      /range of input length|(?:exceed\w*|over) (?:the )?model token limit|input(?:s'?)? tokens/,
      /token(?:s| count)?\b.{0,40} exceeds the (?:limit|maximum)|exceeds? max length/,
    ],
    not: /rate limit|per (?:min|day|hour)|does not support/,
    after: ['output-limit'],
    sources: ['BrokkAi/brokk-app#540', 'BerriAI/litellm#18282'],
    lines: ['F029', 'F030', 'F033'],
  },
  {
    id: 'too-long',
    class: 'context_length',
    statuses: [400, 403, 404, 422, 5],
    words: [
      /\b(?:prompts?|inputs?|'inputs'|messages|token length|conversation|sequence|history)\b/,
      /\b(?:total length|tokens)\b/,
    ],
    near: [
      /too (?:long|large|many tokens)|\bexceed(?:s|ed|ing)?\b|longer than|greater than|larger than/,
      /must have less than|must be <=|should not exceed/,
    ],
    not: [
      /\b(?:images?|audio|files?|tools?|names?|stop|metadata|schema|ids?|bytes|mb|seconds|pages?|pdf)\b/,
      /\b(?:choices|documents?|functions?|temperature|quota|rate limit|requests?\b.{0,12}per)\b/,
      /\b(?:per (?:min|day|hour)|pending|budget)\b|thinking/,
    ],
    after: ['output-limit'],
    sources: ['aws-samples/assessment-generator#2', 'BerriAI/litellm#21647'],
    lines: ['F031', 'F042', 'F056'],
  },
  {
    id: 'too-long-zh',
    class: 'context_length',
    words: /(?:输入|上下文|提示词?|对话).{0,24}(?:小于|超[出过]|过长|上限|太长)/,
    not: /敏感|额度|余额/,
    sources: ['chatanywhere/GPT_API_free#496'],
    lines: ['F059'],
  },

  {
    id: 'model-words',
    class: 'model_gone',
    statuses: [400, 401, 403, 404, 410, 422],
    words: [/\b(?:models?|deployment|engine|inference profile|throughput)\b/],
    not: [
      /supports? (?:image|tools?|vision|function|parameter|system)|unsupported (?:parameter|value)|multi ?modal/,
      /'\w+' is not supported|(?:with|by) this model|not \w+ (?:for|with|by|on|in) (?:\w+ )?models?\b/,
      /for this model\b.*(?:parameter|temperature)|input is not|context/,
      /tool choice|response format|invalid model (?:output|response|token)/,
    ],
    near: [
      /not exist|not (?:be )?found|decommissioned|deprecated|no longer|not (?:currently )?available|retired/,
      /is not (?:supported|valid|accessible|enabled|deployed|ready for)|not (?:been )?loaded|disabled|is blocked/,
      /identifier is invalid|name is invalid|(?:no such|unknown|invalid|unsupported|unable to access) model/,
      /not found the|supported (?:api )?model names|not an? valid model|model agreement/,
      /(?:access to|access|use|permission for|invoke)(?: \w+){0,3} models?\b|prior to using this model|no models?\b/,
      /(?:accept|agree\w*) .{0,60}\b(?:terms|licen[cs]e)|not (?:activated|purchased|eligible)|requires terms/,
    ],
    sources: ['google-gemini/gemini-cli#14603', 'anthropics/claude-code#1466'],
    lines: ['F135', 'F137', 'F140'],
  },
  {
    id: 'model-channel',
    class: 'model_gone',
    words: [
      /模型.{0,40}(?:无可用渠道|不存在|未开放|无权|下线)|暂未开放.{0,30}权限/,
      /no available channels? for model/,
    ],
    sources: ['songquanpeng/one-api#2340', 'docs.bigmodel.cn/cn/api/api-code'],
    lines: ['F144', 'F152'],
  },
  {
    id: 'model-access',
    class: 'model_gone',
    statuses: [401, 403],
    words: [
      /\b(?:this|the|your).{0,30}access to (?:gpt|claude|gemini|[a-z]+[ -]\d)/,
      /not (?:allowed|permitted|authorized) to (?:access|use)[^.]{0,40}model|upgrade for access/,
    ],
    sources: ['openai/codex#13308'],
    lines: ['F133'],
  },

  {
    id: 'key-words',
    class: 'credential',
    statuses: [400, 401, 403, 422],
    words: /\b(?:api ?key|(?:access|security) token|auth(?:entication|orization)?|credentials?|subscription key)\b/,
    near: [
      /invalid|incorrect|wrong|missing|expired|not valid|not exist|not found|no auth|disabled|required/,
      /unknown|\bbad\b|fail|error|denied/,
    ],
    not: /\bmodel\b|max[ _]|tokens\b|json|tool|too long|parameter/,
    sources: ['MiniMax-AI/MiniMax-01#37', 'scaleway/docs-content#3636'],
    lines: ['F127', 'F129'],
  },

  {
    id: 'template',
    class: 'bad_request',
    statuses: [404, 410, 5],
    words: [
      /\broles?\b|system (?:message|prompt|role)|jinja|chat template|\btools?\b|user (?:query|message)/,
      /\bmessages?\b|json schema|grammar|response format|\bparam(?:eter)?s?\b|content part|arguments?\b/,
    ],
    near: [
      /alternate|must (?:be|alternate|have|start|end)|should be|\bonly (?:user|system|supports?|one|single)\b/,
      /not support|unsupported|\bunknown\b|unrecognized|\binvalid\b|exception|rendering|failed to parse/,
      /conversion failed|\brequires\b|\bexpected\b|no user/,
    ],
    not: /unavailable|timed? ?out|overload|internal error|cuda|memory|killed|crash/,
    sources: ['anomalyco/opencode#5034', 'ggml-org/llama.cpp#20215'],
    lines: ['F178', 'F179', 'F183'],
  },
  {
    id: 'request-words',
    class: 'bad_request',
    statuses: [404, 410, 5],
    words: [
      /bad request error|raise exception\(|no endpoints found that (?:support|can handle)/,
      /unsupported content|failed to (?:load|decode) image|invalid image|items are not persisted/,
      /invalid ?argument|validation error/,
      /unprocessable/,
    ],
    sources: ['llama.cpp', 'litellm'],
    lines: ['F230', 'F231'],
  },

  {
    id: 'overload',
    class: 'overloaded',
    statuses: [429, 5],
    words: [
      /overloaded/,
      /(?:server|system|service|engine|infrastructure)\b.{0,40}\b(?:busy|at (?:maximum )?capacity)/,
      /capacity temporarily exceeded|maximum capacity|queue is full|server overload/,
    ],
    not: /rate limit/,
    sources: ['huggingface/text-generation-inference#439'],
    lines: ['F207'],
  },
  {
    id: 'limit-words',
    class: 'rate_limit',
    statuses: [403, 5],
    words: [
      /rate[ -]?limit|too many requests|\b(?:qps|rpm|tpm)\b.{0,30}(?:limit|exceed)/,
      /requests? per (?:min|sec)|throttl/,
    ],
    sources: ['cloud.baidu.com documentation'],
    lines: ['F201'],
  },
]
