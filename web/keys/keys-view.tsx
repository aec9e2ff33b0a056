import { useEffect, useId, useRef, useState, type ReactNode } from 'react'
import type { KeyEntry, LimitEntry, MadeKeyEntry, OwnLimitsAnswer } from '../../src/http/page/page-api.ts'
import { useServices } from '../services.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { focusContent } from '../ui/focus-content.ts'
import { keptTime } from '../ui/kept-time.ts'
import { Loading } from '../ui/loading.tsx'
import { Notice } from '../ui/notice.tsx'
import { KeyDialog } from './key-dialog.tsx'
import { foundKeys, inOrder, isOver, rotatableOf } from './key-entries.ts'
import { KeyList } from './key-list.tsx'
import { limitText } from './limit-text.ts'
import { MakeKey } from './make-key.tsx'
import { RotateKey } from './rotate-key.tsx'
import { teamIn, useKeys, type KeysState, type Whose } from './use-keys.ts'

/** Keys for programs: one's own, those of teams for their leads, and those of all for owners. */
export function KeysView(): ReactNode {
  const {
    boot: { isOwner, teams = [] },
  } = useServices()
  const [whose, setWhose] = useState<Whose>('mine')
  const [text, setText] = useState('')
  const [made, setMade] = useState<MadeKeyEntry>()
  const [change, setChange] = useState<KeyChange>()
  const { keys, ceilings, isCut, error, reload, make, rotate, end } = useKeys(whose)

  function closeMade(): void {
    setMade(undefined)
    // The button that had the focus is gone.
    focusContent()
  }

  const inUse = keys?.filter((key) => !isOver(key)).length ?? 0
  return (
    <div className="@container mx-auto flex max-w-4xl flex-col gap-4 p-4">
      <header className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-60">
          <h1 className="text-xl font-semibold">{say.views.keys}</h1>
          <p className="text-sm text-muted">{purposeOf(whose)}</p>
        </div>
        <Button icon="retry" onClick={reload}>
          {say.common.reload}
        </Button>
      </header>
      {made === undefined ? null : <MadeKey made={made} onClose={closeMade} />}
      {whose !== 'all' && ceilings !== undefined ? (
        <MakeKey key={whose} ceilings={ceilings} inUse={inUse} make={make} onMade={setMade} />
      ) : null}
      {whose === 'mine' ? <OwnLimits round={keys} /> : null}
      {isOwner || teams.length > 0 ? (
        <Filter whose={whose} teams={teams} hasAll={isOwner} text={text} onWhose={setWhose} onText={setText} />
      ) : null}
      {error === undefined ? null : (
        <Notice
          kind="error"
          title={say.keys.cannotBeShown}
          actions={<Button onClick={reload}>{say.common.tryAgain}</Button>}
        >
          {error}
        </Notice>
      )}
      {isCut ? (
        <Notice kind="warn" title={say.keys.cut}>
          {say.keys.cutAdvice}
        </Notice>
      ) : null}
      {keys === undefined ? (
        error === undefined ? (
          <Loading />
        ) : null
      ) : (
        <KeyList
          keys={inOrder(foundKeys(keys, text))}
          rotatable={rotatableOf(keys)}
          hasPeople={whose !== 'mine'}
          onRotate={(entry) => setChange({ kind: 'rotate', entry })}
          onEnd={(entry) => setChange({ kind: 'end', entry })}
        />
      )}
      <AskedChange change={change} rotate={rotate} end={end} onMade={setMade} onClose={() => setChange(undefined)} />
    </div>
  )
}

/** A change of a key that a dialog asks for. */
interface KeyChange {
  readonly kind: 'rotate' | 'end'
  readonly entry: KeyEntry
}

function AskedChange({
  change,
  rotate,
  end,
  onMade,
  onClose,
}: Pick<KeysState, 'rotate' | 'end'> & {
  readonly change: KeyChange | undefined
  readonly onMade: (made: MadeKeyEntry) => void
  readonly onClose: () => void
}): ReactNode {
  if (change === undefined) return null
  const { kind, entry } = change
  if (kind === 'end') return <EndKey entry={entry} end={end} onClose={onClose} />
  return <RotateKey entry={entry} rotate={rotate} onMade={onMade} onClose={onClose} />
}

function purposeOf(whose: Whose): string {
  const team = teamIn(whose)
  if (team !== undefined) return say.keys.purposeOfTeam(team)
  return whose === 'all' ? say.keys.purposeOfAll : say.keys.purpose
}

function Filter({
  whose,
  teams,
  hasAll,
  text,
  onWhose,
  onText,
}: {
  readonly whose: Whose
  readonly teams: readonly string[]
  readonly hasAll: boolean
  readonly text: string
  readonly onWhose: (whose: Whose) => void
  readonly onText: (text: string) => void
}): ReactNode {
  const id = useId()
  const choices: readonly Whose[] = [...teams.map((team): Whose => `team:${team}`), ...(hasAll ? ['all' as const] : [])]
  const look = 'min-h-9 rounded-lg border border-muted bg-page px-2 text-base pointer-coarse:min-h-11'
  return (
    <div className="flex flex-wrap gap-3">
      <div className="flex flex-col gap-1">
        <label htmlFor={`${id}-whose`} className="text-xs text-muted">
          {say.keys.whose}
        </label>
        <select
          id={`${id}-whose`}
          value={whose}
          className={look}
          onChange={({ target: { value } }) => onWhose(choices.find((choice) => choice === value) ?? 'mine')}
        >
          <option value="mine">{say.keys.mine}</option>
          {teams.map((team) => (
            <option key={team} value={`team:${team}`}>
              {say.keys.ofTeam(team)}
            </option>
          ))}
          {hasAll ? <option value="all">{say.keys.ofAll}</option> : null}
        </select>
      </div>
      <div className="flex min-w-48 flex-1 flex-col gap-1">
        <label htmlFor={`${id}-text`} className="text-xs text-muted">
          {say.keys.filter}
        </label>
        <input
          id={`${id}-text`}
          type="search"
          value={text}
          className={look}
          onChange={({ target }) => onText(target.value)}
        />
      </div>
    </div>
  )
}

interface EndKeyProps {
  readonly entry: KeyEntry
  readonly end: KeysState['end']
  readonly onClose: () => void
}

/** Asks whether a key ends. */
function EndKey({ entry, end, onClose }: EndKeyProps): ReactNode {
  async function endNow(): Promise<void> {
    await end(entry.id)
    announce(say.keys.endedNow(entry.name))
    onClose()
    // The button that had the focus is gone.
    focusContent()
  }

  return (
    <KeyDialog title={say.keys.endAsk} label={say.keys.endNow} isDangerous perform={endNow} onClose={onClose}>
      <p className="[overflow-wrap:anywhere]">
        {rich(say.keys.endHint, { name: <bdi className="font-medium">{entry.name}</bdi>, hint: entry.hint })}
      </p>
    </KeyDialog>
  )
}

/** A key that was just made, shown once, with the settings for a client program. */
function MadeKey({ made, onClose }: { readonly made: MadeKeyEntry; readonly onClose: () => void }): ReactNode {
  const box = useRef<HTMLElement>(null)
  useEffect(() => box.current?.focus(), [made])
  return (
    <section
      ref={box}
      tabIndex={-1}
      aria-label={say.keys.newKeyOf(made.name)}
      className="flex flex-col gap-3 rounded-xl border border-accent bg-panel p-4"
    >
      <div>
        <h2 className="font-semibold [overflow-wrap:anywhere]">
          <bdi>{made.name}</bdi>
        </h2>
        <p className="text-sm text-muted">{say.keys.copyNow}</p>
      </div>
      <Line name={say.keys.key} value={made.key} />
      <Line name={say.keys.baseUrl} value={`${location.origin}/v1`} />
      <p className="text-sm text-muted">{rich(say.keys.withoutV1, { path: <code>/v1</code> })}</p>
      <div>
        <Button onClick={onClose}>{say.keys.copied}</Button>
      </div>
    </section>
  )
}

function Line({ name, value }: { readonly name: string; readonly value: string }): ReactNode {
  return (
    <div className="flex items-center gap-2">
      <div className="min-w-0 flex-1">
        <p className="text-xs text-muted">{name}</p>
        <code className="text-sm break-all">{value}</code>
      </div>
      <CopyButton text={value} label={say.content.copy(name)} />
    </div>
  )
}

/**
 * Whether content of the person's requests is kept, and the limits that name the person, in which their keys count too.
 *
 * @param round a new one asks again
 */
function OwnLimits({ round }: { readonly round: unknown }): ReactNode {
  const { client } = useServices()
  const [limits, setLimits] = useState<readonly LimitEntry[]>([])
  const [content, setContent] = useState<OwnLimitsAnswer['content']>(null)
  useEffect(() => {
    const leaving = new AbortController()
    client.get<OwnLimitsAnswer>('/v1/key', leaving.signal).then(
      (answer) => {
        setLimits(answer.limits)
        setContent(answer.content)
      },
      // The keys are shown without them; the list of keys tells why the service does not answer.
      () => setLimits([]),
    )
    return () => leaving.abort()
  }, [client, round])
  return (
    <>
      {content === null ? null : (
        <p className="text-sm text-muted">{say.content.isKept(keptTime(content.kept_seconds * 1_000))}</p>
      )}
      {limits.length === 0 ? null : <Limits limits={limits} />}
    </>
  )
}

function Limits({ limits }: { readonly limits: readonly LimitEntry[] }): ReactNode {
  return (
    <section aria-labelledby="own-limits" className="text-sm">
      <h2 id="own-limits" className="font-medium">
        {say.keys.ownLimits}
      </h2>
      <ul className="text-muted tabular-nums">
        {limits.map((limit, index) => (
          <li key={index} className="[overflow-wrap:anywhere]">
            {limitText(limit)}
          </li>
        ))}
      </ul>
    </section>
  )
}
