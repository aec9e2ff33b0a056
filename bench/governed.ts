import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAccess } from '../src/config/file/parse-access.ts'
import type { RequestContext } from '../src/extensions/extension.ts'
import { openLedger } from '../src/ledger/open-ledger.ts'
import { UseRecorder } from '../src/ledger/use/use-recorder.ts'
import type { UseThread } from '../src/ledger/use/use-thread-link.ts'
import { LocalBudgets } from '../src/limits/budgets/budget-authority.ts'
import { MoneyLimits } from '../src/limits/budgets/money-limits.ts'
import { OpenHolds } from '../src/limits/budgets/open-holds.ts'
import { Limiter } from '../src/limits/limiter.ts'
import { keyBook } from '../src/people/keys/key-book.ts'
import { makeKey, parseKeyRequest } from '../src/people/keys/manage-keys.ts'
import { keyRecogniser } from '../src/people/keys/recognise.ts'
import type { Caller } from '../src/people/person.ts'
import { LearnedSizes } from '../src/prices/token-sizes.ts'
import { benchLimits } from './proxies/svc-with-keys.ts'

/** A key, four limits and a ledger in this process. The thread of the ledger takes what it gets, and writes nothing. */
export interface Governed {
  readonly key: string
  recognise(context: RequestContext): Caller | undefined | Promise<Caller>
  readonly limits: Limiter
  readonly money: MoneyLimits
  readonly tokenSizes: LearnedSizes
  readonly recorder: UseRecorder
  close(): Promise<void>
}

export async function governed(): Promise<Governed> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const ledger = await openLedger({ path: join(folder, 'svc.db') })
  const maker = { by: 'bench', now: Date.now() }
  const { key } = await makeKey(ledger.keys, parseKeyRequest({ name: 'bench' }), maker)
  const recognise = keyRecogniser({
    book: await keyBook({
      table: ledger.keys,
      fileKeys: () => [],
      onFault: () => undefined,
    }),
    tokens: { takes: () => false, keyOf: () => Promise.reject(new Error('no token')) },
    clients: { addressOf: () => new Uint8Array([127, 0, 0, 1]) },
    now: Date.now,
    onUse: () => undefined,
    refusalOf: () => undefined,
  })
  const policy = parseAccess(JSON.stringify({ limits: benchLimits }), 'access.json')
  const limits = new Limiter({ clock: () => performance.now() })
  limits.replace(policy)
  const tokenSizes = new LearnedSizes()
  const authority = new LocalBudgets({ spending: { sumSince: () => Promise.resolve(0) }, now: Date.now })
  const money = new MoneyLimits({ authority, now: Date.now, tokenSizes, openHolds: new OpenHolds() })
  money.replace(policy)
  const recorder = new UseRecorder({ start: idleThread, onTrouble() {}, onLost() {} })
  return {
    ...{ key, recognise, limits, money, tokenSizes, recorder },
    async close() {
      await recorder.close()
      await ledger.close()
      rmSync(folder, { recursive: true })
    },
  }
}

function idleThread(): UseThread {
  let listener: Parameters<UseThread['onResult']>[0] | undefined
  return {
    write: () => queueMicrotask(() => listener?.({})),
    setZone() {},
    close: () => Promise.resolve(),
    onResult(next) {
      listener = next
    },
    onReady() {},
    onEnd() {},
  }
}
