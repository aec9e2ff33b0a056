import type { ReactNode } from 'react'
import type { KeyEntry } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { formatAgo, formatMoment } from '../ui/format.ts'
import { keptTime } from '../ui/kept-time.ts'
import { useNow } from '../ui/use-now.ts'
import { grantsOf, isOver } from './key-entries.ts'

/** Props of {@link KeyList}. */
interface KeyListProps {
  readonly keys: readonly KeyEntry[]
  /** Those that can be replaced. */
  readonly rotatable: ReadonlySet<KeyEntry>
  /** Each key is shown with its person. */
  readonly hasPeople: boolean
  readonly onRotate: (key: KeyEntry) => void
  readonly onEnd: (key: KeyEntry) => void
}

/** Keys that are shown at once. A filter finds the others. */
const shownMax = 200

/** Keys with their states. */
export function KeyList({ keys, rotatable, hasPeople, onRotate, onEnd }: KeyListProps): ReactNode {
  const now = useNow(30_000)
  if (keys.length === 0)
    return <p className="rounded-xl border border-line bg-panel p-8 text-center">There is no key here.</p>
  return (
    <>
      <ul className="flex flex-col gap-2" aria-label="Keys">
        {keys.slice(0, shownMax).map((key) => (
          <Row
            key={key.id}
            entry={key}
            now={now}
            hasPeople={hasPeople}
            onRotate={rotatable.has(key) ? onRotate : undefined}
            onEnd={onEnd}
          />
        ))}
      </ul>
      {keys.length > shownMax ? (
        <p className="text-sm text-muted">{keys.length - shownMax} more: filter them.</p>
      ) : null}
    </>
  )
}

interface RowProps {
  readonly entry: KeyEntry
  readonly now: number
  readonly hasPeople: boolean
  /** `undefined`: it cannot be replaced. */
  readonly onRotate: ((key: KeyEntry) => void) | undefined
  readonly onEnd: (key: KeyEntry) => void
}

function Row({ entry, now, hasPeople, onRotate, onEnd }: RowProps): ReactNode {
  const { name, hint, person, team, made_by: madeBy, last_used: used } = entry
  const owner =
    person === null ? `of ${team === null ? 'the service' : `the team ${team}`}, made by ${madeBy}` : `of ${person}`
  const facts = [
    ...(hasPeople ? [owner] : []),
    grantsOf(entry),
    used === null ? 'never used' : `used ${formatAgo(Date.parse(used), now)}`,
    endOf(entry),
    ...(entry.content === undefined || isOver(entry) ? [] : [keptOf(entry.content.kept_seconds)]),
  ]
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-xl border border-line bg-panel px-4 py-3">
      <div className="min-w-0 flex-1 basis-60">
        <p className="font-medium [overflow-wrap:anywhere]">
          <bdi>{name}</bdi> <code className="text-xs font-normal whitespace-nowrap text-muted">{hint}</code>
        </p>
        <p className="text-sm text-muted [overflow-wrap:anywhere]">{facts.join(' · ')}</p>
      </div>
      <span className={`text-sm ${entry.state === 'resting' ? 'text-warn' : isOver(entry) ? 'text-muted' : ''}`}>
        {entry.state}
      </span>
      {onRotate === undefined ? null : (
        <Button aria-label={`Replace ${name}`} onClick={() => onRotate(entry)}>
          Replace…
        </Button>
      )}
      {isOver(entry) ? null : (
        <Button variant="danger" aria-label={`End ${name}`} onClick={() => onEnd(entry)}>
          End…
        </Button>
      )}
    </li>
  )
}

function endOf({ expires, ended, state }: KeyEntry): string {
  if (ended !== null) return `ended ${formatMoment(Date.parse(ended))}`
  if (expires === null) return 'does not expire'
  return `${state === 'expired' ? 'expired' : 'expires'} ${formatMoment(Date.parse(expires))}`
}

function keptOf(seconds: number): string {
  return say.content.isKeptOfKey(keptTime(seconds * 1_000))
}
