/**
 * How the model that an answer names compares with the one that was asked for. `unnamed`: the asked name is that of no
 * family, such as a router's or a deployment's, and the answer names a model.
 */
export type ModelComparison = 'same' | 'other' | 'unnamed'

/**
 * Families of models, by a word of their names. Of a family that is not listed nothing is said: an alarm must be right,
 * and most names have words of their provider, of a date or of a form of weights.
 */
const families: ReadonlySet<string> = new Set(
  `ada aya babbage baichuan bge chatgpt claude codellama codestral codex command dall davinci dbrx deepseek
   devstral doubao embed embedding ernie flux gemini gemma glm gpt granite grok hermes hunyuan imagen internlm
   jamba jina kimi lfm llama longcat magistral mimo minimax ministral mistral mixtral moonshot nemotron nomic
   nova o olmo palmyra phi pixtral qvq qwen qwq reka rerank sonar starcoder titan tts voxtral voyage whisper
   wizardlm yi`.split(/\s+/),
)

/** Words by which models of one family differ. */
const variants: ReadonlySet<string> = new Set(
  `air audio code coder fable fast flash guard haiku image large lite maverick max medium micro mini nano nemo omni opus
   oss plus premier pro realtime scout small sonnet tiny transcribe ultra vision vl xlarge`.split(/\s+/),
)

const synonyms: ReadonlyMap<string, string> = new Map([['chatgpt', 'gpt']])

/** A name as the parts that tell models apart. */
interface ModelWords {
  readonly families: string
  readonly variants: string
  /** The digits of the version; empty: none. */
  readonly version: string
  /** Parameters, such as `70b`; empty: not named. */
  readonly size: string
}

/**
 * Compares names of models, by families, variants, version and size. A version or a size that one side leaves out is no
 * difference, nor are paths, makers, regions, dates, revisions, and forms of weights.
 */
export function compareModels(asked: string, answered: string): ModelComparison {
  if (asked === answered) return 'same'
  const [one, other] = [wordsOf(asked), wordsOf(answered)]
  if (other.families === '') return 'same'
  if (one.families === '') return 'unnamed'
  const isSame =
    one.families === other.families &&
    one.variants === other.variants &&
    agree(one.version, other.version) &&
    agree(one.size, other.size)
  return isSame ? 'same' : 'other'
}

function agree(one: string, other: string): boolean {
  return one === '' || other === '' || one === other
}

/** Names are of other programs, and longer ones are none. */
const charactersMax = 256

function wordsOf(name: string): ModelWords {
  const whole = name.slice(0, charactersMax).toLowerCase()
  const words = wordsIn(lastOfPath(whole))
  // Some have their form behind their name: `deepseek/deepseek-r1/community`.
  return words.families === '' && whole.includes('/') ? wordsIn(whole.replaceAll('/', '-')) : words
}

/** Leaves the revision of Amazon Bedrock out, `-v1:0`. */
function wordsIn(text: string): ModelWords {
  const [model = '', tag] = text.replace(/-v\d+:\d+.*$/, '').split(':', 2)
  const found = { families: new Set<string>(), variants: new Set<string>() }
  let version = ''
  let size = ''
  for (const token of withoutDates(model).split(/[^a-z0-9.]+|\.(?!\d)|(?<!\d)\./)) {
    if (sizeForm.test(token)) size ||= token
    else if (!otherForms.test(token)) version += readToken(token, found)
  }
  // Ollama names the size in a tag. Other tags are those of providers and prices.
  for (const token of tag?.split('-') ?? []) if (sizeForm.test(token)) size ||= token
  return {
    families: textOf(found.families),
    variants: textOf(found.variants),
    version: version.replace(/0+$/, ''),
    size,
  }
}

/** The last piece of a path, or the model of a fine-tuned one, `ft:BASE:OWNER::ID`. */
function lastOfPath(name: string): string {
  const [, base] = /^ft:([^:]+)/.exec(name) ?? []
  return base ?? name.replace(/[/\\]+$/, '').replace(/^.*[/\\]/, '')
}

/** Without dates. */
function withoutDates(model: string): string {
  return model
    .replace(/@.*$/, '')
    .replace(/20\d\d[-.]?[01]\d[-.]?[0-3]\d/g, '')
    .replace(/(?<!\d)[01]\d-20\d\d(?!\d)/g, '')
    .replace(/(?<![\d.])[01]\d-[0-3]\d(?![\d.])/g, '')
}

/** `70b`, `8x7b`, `e4b`. */
const sizeForm = /^(?:\d+x)?e?\d+(?:\.\d+)?b$/
/** Active parameters, experts, contexts, and forms of weights: `a22b`, `16e`, `128k`, `q4`, `fp8`, `w4a16`, `4bit`. */
const otherForms = /^(?:a\d+(?:\.\d+)?b|\d+e|\d+[km]|i?q\d.*|(?:nv|mx)?fp\d+|bf\d+|int\d+|w\d+a\d+|\d+bits?)$/

/** Adds the words of a token. @returns its digits; those of revisions such as `001` and `0613` are none of a version */
function readToken(token: string, found: { readonly families: Set<string>; readonly variants: Set<string> }): string {
  let digits = ''
  for (const run of token.match(/[a-z]+|\d+(?:\.\d+)*/g) ?? []) {
    if (/^\d/.test(run)) digits += /^\d{3,}$/.test(run) ? '' : run.replaceAll('.', '')
    else {
      const word = synonyms.get(run) ?? run
      if (families.has(word)) found.families.add(word)
      else if (variants.has(word)) found.variants.add(word)
    }
  }
  return digits
}

function textOf(words: ReadonlySet<string>): string {
  return [...words].toSorted().join(' ')
}
