import { createHash } from 'node:crypto'
import { isRecord, type JsonObject } from '../../src/base/json-value.ts'

/*
 * Messages of Anthropic with its prompt cache, as a process of its own: `prompt-cache.ts` prints `{"port":…}`. At most
 * four marks, and none on thinking or empty text, else 400. A prompt below the minimum of its model is not cached. A
 * read looks at most 20 blocks back from a mark. An entry lives 5 minutes, or an hour, from its last use;
 * `POST /clock` with a number of milliseconds moves the clock. `GET /last` gives the bytes of the last request.
 */

interface Block {
  readonly hash: string
  /** Tokens of the prompt up to its end. */
  readonly tokens: number
  /** Milliseconds that a mark asks for. */
  readonly life: number | undefined
}

interface Usage {
  readonly input_tokens: number
  readonly cache_read_input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_creation: { readonly ephemeral_5m_input_tokens: number; readonly ephemeral_1h_input_tokens: number }
}

const bytesPerToken = 4
const lookBack = 20
const lives: Readonly<Record<string, number>> = { '5m': 300_000, '1h': 3_600_000 }

class Refusal extends Error {}

class PromptCache {
  now = 0
  readonly #ends = new Map<string, { until: number; readonly life: number }>()

  serve(body: JsonObject): Usage {
    const blocks = blocksOf(body)
    const model = String(body['model'])
    const total = blocks.at(-1)?.tokens ?? 0
    const marks = blocks.flatMap(({ life, tokens }, place) =>
      life === undefined || tokens < minimumOf(model) ? [] : [{ place, life, tokens }],
    )
    const read = Math.max(0, ...marks.map(({ place }) => this.#readBefore(blocks, place)))
    const written = { [300_000]: 0, [3_600_000]: 0 }
    let end = read
    for (const { place, life, tokens } of marks) {
      this.#ends.set(blocks[place]?.hash ?? '', { until: this.now + life, life })
      if (tokens <= end) continue
      written[life === 300_000 ? 300_000 : 3_600_000] += tokens - end
      end = tokens
    }
    return {
      input_tokens: total - end,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: end - read,
      cache_creation: { ephemeral_5m_input_tokens: written[300_000], ephemeral_1h_input_tokens: written[3_600_000] },
    }
  }

  /** Tokens of the longest known prompt that ends at this block, or at most 20 before it. */
  #readBefore(blocks: readonly Block[], place: number): number {
    for (let at = place; at >= Math.max(0, place - lookBack); at -= 1) {
      const block = blocks[at]
      const entry = this.#ends.get(block?.hash ?? '')
      if (block === undefined || entry === undefined || entry.until <= this.now) continue
      entry.until = this.now + entry.life
      return block.tokens
    }
    return 0
  }
}

function minimumOf(model: string): number {
  if (/opus-5|fable-5/.test(model)) return 512
  return /opus-4-[56]|haiku-4-5/.test(model) ? 4_096 : /opus-4-7/.test(model) ? 2_048 : 1_024
}

/** The prompt in its order. A string is a block of text. */
function blocksOf(body: JsonObject): readonly Block[] {
  const prompt: readonly JsonObject[] = [
    ...listOf(body['tools']),
    ...contentOf(body['system']),
    ...listOf(body['messages']).flatMap(({ role, content }) => contentOf(content).map((block) => ({ ...block, role }))),
  ]
  const marks = prompt.flatMap(marksIn)
  if (marks.length + (isRecord(body['cache_control']) ? 1 : 0) > 4)
    throw new Refusal(`A maximum of 4 blocks with cache_control may be provided. Found ${marks.length}.`)
  const hash = createHash('sha256').update(String(body['model']))
  let tokens = 0
  return prompt.map((block) => {
    const { cache_control, ...plain } = block
    const bytes = JSON.stringify(plain, (name, value: unknown) => (name === 'cache_control' ? undefined : value))
    tokens += Math.ceil(bytes.length / bytesPerToken)
    hash.update(bytes)
    return { hash: hash.copy().digest('hex'), tokens, life: lifeOf(cache_control) }
  })
}

function marksIn(block: JsonObject): readonly JsonObject[] {
  const inner = listOf(block['content']).flatMap(marksIn)
  const { cache_control: mark, type, text } = block
  if (!isRecord(mark)) return inner
  if (type === 'thinking' || (type === 'text' && text === ''))
    throw new Refusal(`cache_control cannot be set for ${type === 'text' ? 'empty text blocks' : 'thinking'}`)
  return [...inner, mark]
}

function lifeOf(mark: unknown): number | undefined {
  if (!isRecord(mark)) return undefined
  const life = lives[String(mark['ttl'] ?? '5m')]
  if (mark['type'] !== 'ephemeral' || life === undefined) throw new Refusal('cache_control: invalid')
  return life
}

function contentOf(content: unknown): readonly JsonObject[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

if (import.meta.main) {
  const cache = new PromptCache()
  let last = new ArrayBuffer(0)
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    routes: {
      '/last': () => new Response(last),
      '/clock': async (request) => {
        cache.now += Number(await request.text())
        return new Response()
      },
      '/v1/messages': async (request) => {
        last = await request.arrayBuffer()
        const body: unknown = JSON.parse(new TextDecoder().decode(last))
        try {
          const usage = { ...cache.serve(isRecord(body) ? body : {}), output_tokens: 20 }
          const content = [{ type: 'text', text: 'Done.' }]
          const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', stop_sequence: null }
          return Response.json({ ...head, content, stop_reason: 'end_turn', usage })
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
          const refusal = { type: 'invalid_request_error', message: error.message }
          return Response.json({ type: 'error', error: refusal }, { status: 400 })
        }
      },
    },
    fetch: () => new Response(null, { status: 404 }),
  })
  console.log(JSON.stringify({ port: server.port }))
}
