import type { Config } from '../../config/config.ts'
import type { ListedOffer } from '../../formats/model.ts'
import type { CostOf } from '../../prices/cost.ts'
import { profileAt } from '../../profiles/resolve-profile.ts'

/** What a provider gives for a name, as far as it is known. */
export interface ServerFacts {
  readonly provider: string
  /** The provider's name for the model. */
  readonly upstream: string
  readonly context: number | undefined
  readonly maxOutput: number | undefined
  readonly input: readonly string[] | undefined
  readonly takesTools: boolean
  /** Requests for chats pass through as they are. */
  readonly isNative: boolean
  /** USD for a million tokens in and a million out. Undefined: not known. */
  readonly usd: number | undefined
  /** How long a caller may wait for it, in milliseconds. */
  readonly waitMs: number
}

const million = 1_000_000
const nanoPerUsd = 1e9

export function serverFacts(
  { provider: id, model }: ListedOffer,
  { providers }: Config,
  costOf: CostOf | undefined,
): ServerFacts {
  const provider = providers.find((each) => each.id === id)
  const { upstream, context, maxOutput, input, profile: own } = model
  const target = { brand: provider?.brand, protocol: provider?.protocol ?? 'openai', model: upstream }
  const cost = costOf?.({ promptTokens: million, completionTokens: million, totalTokens: 2 * million })
  const timeouts = provider?.timeouts
  return {
    ...{ provider: id, upstream, context, maxOutput, input },
    takesTools: profileAt(target, { ...provider?.profile, ...own }).tools > 0,
    isNative: target.protocol === 'openai' || target.protocol === 'echo',
    usd: cost === undefined ? undefined : cost.nanoUsd / nanoPerUsd,
    waitMs: timeouts === undefined ? 0 : timeouts.connectMs + timeouts.firstTokenMs,
  }
}

/** What is lost when another provider serves than usual, in words. */
export function lostBetween(usual: ServerFacts, server: ServerFacts): readonly string[] {
  const lost: string[] = []
  const less = (name: string, before: number | undefined, now: number | undefined) => {
    if (before !== undefined && now !== undefined && now < before) lost.push(`${name} ${now} instead of ${before}`)
  }
  less('context', usual.context, server.context)
  less('answers of', usual.maxOutput, server.maxOutput)
  const missing = (usual.input ?? []).filter((each) => server.input?.includes(each) === false && each !== 'text')
  if (missing.length > 0) lost.push(`no ${missing.join(', ')}`)
  if (usual.takesTools && !server.takesTools) lost.push('no tools')
  if (usual.isNative && !server.isNative) lost.push('requests are translated')
  if (family(usual.upstream) !== family(server.upstream)) lost.push(`another model: ${server.upstream}`)
  if (usual.usd !== undefined && server.usd === undefined) lost.push('no price is known')
  if (usual.usd !== undefined && server.usd !== undefined && server.usd > usual.usd)
    lost.push(usual.usd === 0 ? 'it costs money' : `${(server.usd / usual.usd).toFixed(1)} × the price`)
  return lost
}

/** A name of a model without its maker, its date and marks of hosts. */
function family(upstream: string): string {
  return (upstream.split('/').at(-1) ?? upstream)
    .toLowerCase()
    .replace(/:.*$/, '')
    .replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest|versatile|instruct|turbo|fast)\b/g, '')
    .replaceAll(/[^a-z0-9]+/g, '')
}
