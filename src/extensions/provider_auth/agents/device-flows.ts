import { isRecord } from '../../../base/json-value.ts'
import { setBackMsMax, type Store, type StoreOptions } from '../../../stores/store.ts'
import type { Identity } from '../oauth/identity-provider.ts'
import { hashOf, isToken, randomToken } from '../session/random-token.ts'
import type { AgentFacts } from './families.ts'
import { randomUserCode } from './user-code.ts'

/** Ten minutes. */
export const deviceFlowSeconds = 600
const lifeMs = deviceFlowSeconds * 1000

/** A program that asks for a sign-in, found by its user code until someone decides. */
export interface DeviceRequest extends AgentFacts {
  /** Hash of the device code. */
  readonly device: string
  /** The network of the program, as a key of limits per client. */
  readonly client: string
  /** Unix milliseconds. */
  readonly made: number
  /** The person who entered the code first. No other person finds it then. */
  readonly holder?: string
}

/** A person's answer, until the program asks for it. */
export type Decision =
  | ({ readonly kind: 'approved' } & AgentFacts & Pick<Identity, 'userId' | 'userName' | 'displayName' | 'email'>)
  | { readonly kind: 'denied' }

/** What a program learns when it asks. */
export type PollOutcome = Decision | { readonly kind: 'pending' } | { readonly kind: 'expired' }

const common = { ttlMs: lifeMs, valuesMax: 20_000, valuesPerOwnerMax: 200 }

/** Bounds of the stores of flows: by device code, by user code, and what people decided. */
export const deviceStores = {
  /** When each began; Unix milliseconds. */
  devices: {
    ...common,
    parse: (value) => (typeof value === 'number' ? value : undefined),
  } satisfies StoreOptions<number>,
  codes: { ...common, parse: parseRequest } satisfies StoreOptions<DeviceRequest>,
  decisions: { ...common, parse: parseDecision } satisfies StoreOptions<Decision>,
}

function parseRequest(value: unknown): DeviceRequest | undefined {
  if (!isRecord(value)) return undefined
  const { device, client, made, agent, from, holder } = value
  return typeof device === 'string' &&
    typeof client === 'string' &&
    typeof made === 'number' &&
    typeof agent === 'string' &&
    typeof from === 'string'
    ? { device, client, made, agent, from, ...(typeof holder === 'string' ? { holder } : {}) }
    : undefined
}

function parseDecision(value: unknown): Decision | undefined {
  if (!isRecord(value)) return undefined
  const { kind, agent, from, userId, userName, displayName, email } = value
  if (kind === 'denied') return { kind }
  return kind === 'approved' &&
    typeof agent === 'string' &&
    typeof from === 'string' &&
    typeof userId === 'string' &&
    typeof userName === 'string' &&
    typeof displayName === 'string' &&
    typeof email === 'string'
    ? { kind, agent, from, userId, userName, displayName, email }
    : undefined
}

export interface DeviceFlowsOptions {
  readonly devices: Store<number>
  readonly codes: Store<DeviceRequest>
  readonly decisions: Store<Decision>
  /** Unix milliseconds. */
  now(): number
}

/**
 * Sign-ins of programs on another device (RFC 8628). A flow never changes: its user code is taken by the first
 * decision, and the decision by the first program that asks for it, so that each works once.
 */
export class DeviceFlows {
  readonly #options: DeviceFlowsOptions

  constructor(options: DeviceFlowsOptions) {
    this.#options = options
  }

  async begin({ agent, from, client }: AgentFacts & Pick<DeviceRequest, 'client'>) {
    const { devices, codes, now } = this.#options
    const deviceCode = randomToken()
    const [device, made] = [hashOf(deviceCode), now()]
    let userCode = randomUserCode()
    while ((await codes.get(keyOfCode(userCode))) !== undefined) userCode = randomUserCode()
    await devices.set(device, made, client)
    await codes.set(keyOfCode(userCode), { agent, from, client, device, made }, client)
    return { deviceCode, userCode }
  }

  /** What a person has decided. An answer other than `pending` ends the flow. */
  async poll(deviceCode: string): Promise<PollOutcome> {
    if (!isToken(deviceCode)) return { kind: 'expired' }
    const { devices, decisions } = this.#options
    const device = hashOf(deviceCode)
    const made = await devices.get(device)
    if (made === undefined || !this.#isCurrent(made)) return { kind: 'expired' }
    const decision = await decisions.take(device)
    if (decision === undefined) return { kind: 'pending' }
    await devices.delete(device)
    return decision
  }

  /** Finds the program with a user code, and keeps the code for this person. @param holder of the person */
  async look(userCode: string, holder: string): Promise<DeviceRequest | undefined> {
    const { codes } = this.#options
    // Taken, so that of two people who enter it at once one finds it.
    const found = await codes.take(keyOfCode(userCode))
    if (found === undefined || !this.#isCurrent(found.made)) return undefined
    const isFree = found.holder === undefined || found.holder === holder
    const held = isFree ? { ...found, holder } : found
    await codes.set(keyOfCode(userCode), held, found.client)
    return isFree ? held : undefined
  }

  /** Ends a user code with a decision. @returns `undefined`: the code is not held by this person any more */
  async decide(
    userCode: string,
    holder: string,
    decisionFor: (request: DeviceRequest) => Decision,
  ): Promise<DeviceRequest | undefined> {
    const { codes, decisions } = this.#options
    const found = await codes.take(keyOfCode(userCode))
    if (found === undefined) return undefined
    if (found.holder !== holder || !this.#isCurrent(found.made)) {
      await codes.set(keyOfCode(userCode), found, found.client)
      return undefined
    }
    await decisions.set(found.device, decisionFor(found), holder)
    return found
  }

  #isCurrent(made: number): boolean {
    const age = this.#options.now() - made
    return age <= lifeMs && age >= -setBackMsMax
  }
}

/** Of a user code, which has 35 bits: the hash hides it from a look at the store, not from a search. */
function keyOfCode(userCode: string): string {
  return hashOf(`code ${userCode}`)
}
