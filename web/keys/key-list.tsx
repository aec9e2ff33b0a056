import type { ReactNode } from 'react'
import type { KeyEntry } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { formatAgo, formatMoment } from '../ui/format.ts'
import { keptTime } from '../ui/kept-time.ts'
import { useNow } from '../ui/use-now.ts'
import { grantsOf, isOver } from './key-entries.ts'

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
    return <p className="rounded-xl border border-line bg-panel p-8 text-center">{say.keys.none}</p>
  return (
    <>
      <ul className="flex flex-col gap-2" aria-label={say.views.keys}>
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
      {keys.length > shownMax ? <p className="text-sm text-muted">{say.keys.more(keys.length - shownMax)}</p> : null}
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
  const { name, hint, last_used: used } = entry
  const isInFile = entry.source === 'access.json'
  const facts = [
    ...(hasPeople ? [ownerOf(entry)] : []),
    grantsOf(entry),
    used === null ? say.keys.neverUsed : say.keys.used(formatAgo(Date.parse(used), now)),
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
        {isInFile && !isOver(entry) ? say.keys.inFile : say.keys.states[entry.state]}
      </span>
      {onRotate === undefined ? null : (
        <Button aria-label={say.keys.replaceOf(name)} onClick={() => onRotate(entry)}>
          {say.keys.replace}
        </Button>
      )}
      {isInFile || isOver(entry) ? null : (
        <Button variant="danger" aria-label={say.keys.endOf(name)} onClick={() => onEnd(entry)}>
          {say.keys.end}
        </Button>
      )}
    </li>
  )
}

function ownerOf({ person, team, made_by: madeBy }: KeyEntry): string {
  if (person !== null) return say.keys.ofPerson(person)
  const maker = makers[madeBy] ?? madeBy
  return team === null ? say.keys.ofService(maker) : say.keys.ofTeamMadeBy(team, maker)
}

/** Makers that are no person. */
const makers: Readonly<Record<string, string>> = say.keys.makers

function endOf({ expires, ended, state }: KeyEntry): string {
  if (ended !== null) return say.keys.ended(formatMoment(Date.parse(ended)))
  if (expires === null) return say.keys.expiresNever
  const moment = formatMoment(Date.parse(expires))
  return state === 'expired' ? say.keys.expired(moment) : say.keys.expires(moment)
}

function keptOf(seconds: number): string {
  return say.content.isKeptOfKey(keptTime(seconds * 1_000))
}
