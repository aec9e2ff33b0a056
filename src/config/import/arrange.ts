import type { Plan, PlannedAccount, PlannedModel } from './plan.ts'

/** An entry of `providers`: an account with the models that it offers there. */
export interface ArrangedEntry {
  readonly account: PlannedAccount
  /** Name of callers → its model. Undefined: all models of the account's own list. */
  readonly offers: Map<string, PlannedModel> | undefined
}

interface Placed extends ArrangedEntry {
  /** Entries that must stand behind this one. */
  readonly later: Set<Placed>
}

/**
 * Brings accounts into one order, so that the models of each name are asked in theirs. An account is there several
 * times where names want opposite orders, and where one name has two models at it. Accounts with open lists are last.
 */
export function arrange({ routes, open }: Plan): readonly ArrangedEntry[] {
  const placed: Placed[] = []
  for (const [name, steps] of routes) {
    let before: Placed | undefined
    for (const model of new Set(steps)) before = place(model, name, before)
  }
  return [...sorted(placed), ...open.map((account): ArrangedEntry => ({ account, offers: undefined }))]

  function place(model: PlannedModel, name: string, before: Placed | undefined): Placed {
    const usable = placed.find(
      (entry) =>
        entry.account === model.account &&
        entry.offers?.has(name) === false &&
        (before === undefined || !leadsTo(entry, before)),
    )
    const entry = usable ?? {
      account: model.account,
      offers: new Map<string, PlannedModel>(),
      later: new Set<Placed>(),
    }
    if (usable === undefined) placed.push(entry)
    entry.offers?.set(name, model)
    before?.later.add(entry)
    return entry
  }
}

function leadsTo(from: Placed, to: Placed, seen = new Set<Placed>()): boolean {
  if (from === to) return true
  if (seen.has(from)) return false
  seen.add(from)
  return [...from.later].some((entry) => leadsTo(entry, to, seen))
}

/** Each entry before those that are later; else in the order of their making. */
function sorted(placed: readonly Placed[]): readonly Placed[] {
  const waiting = new Map(placed.map((entry) => [entry, placed.filter(({ later }) => later.has(entry)).length]))
  const order: Placed[] = []
  while (waiting.size > 0) {
    const next = [...waiting].find(([, earlier]) => earlier === 0)?.[0]
    if (next === undefined) throw new Error('the order of accounts has a circle')
    waiting.delete(next)
    order.push(next)
    for (const entry of next.later) waiting.set(entry, (waiting.get(entry) ?? 1) - 1)
  }
  return order
}
