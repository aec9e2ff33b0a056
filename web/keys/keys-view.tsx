import { useState, type ReactNode } from 'react'
import type { KeyEntry, LimitEntry, MadeKeyEntry, OwnLimitsAnswer } from '../../src/http/page/page-api.ts'
import { hrefOf } from '../app/route.ts'
import { View } from '../app/view.tsx'
import { useServices } from '../services.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { focusContent } from '../ui/focus-content.ts'
import { keptTime } from '../ui/kept-time.ts'
import { Choice, Labelled, smallLook } from '../ui/labelled.tsx'
import { Loading } from '../ui/loading.tsx'
import { Notice } from '../ui/notice.tsx'
import { useLoaded } from '../ui/use-answer.ts'
import { KeyDialog } from './key-dialog.tsx'
import { foundKeys, inOrder, isOver, rotatableOf } from './key-entries.ts'
import { KeyList } from './key-list.tsx'
import { limitText } from './limit-text.ts'
import { MadeKey } from './made-key.tsx'
import { MakeKey } from './make-key.tsx'
import { MakeProgramKey } from './make-program-key.tsx'
import { RotateKey } from './rotate-key.tsx'
import { teamIn, useKeys, type KeysState, type Whose } from './use-keys.ts'

/** Keys for programs: one's own, those of teams for their leads, and those of all for owners. */
export function KeysView({ id }: { readonly id?: string }): ReactNode {
  const { boot } = useServices()
  if (boot.isOwner && id === 'new') return <MakeProgramKey />
  return <AllKeys first={boot.isOwner && id === 'all' ? 'all' : 'mine'} />
}

/** @param first whose keys are shown at first */
function AllKeys({ first }: { readonly first: Whose }): ReactNode {
  const {
    boot: { isOwner, teams = [] },
  } = useServices()
  const [whose, setWhose] = useState(first)
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
    <View
      title={say.views.keys}
      about={purposeOf(whose)}
      actions={
        isOwner ? (
          <ButtonLink icon="plus" isShort href={hrefOf({ view: 'keys', id: 'new' })} variant="primary">
            {say.programKey.title}
          </ButtonLink>
        ) : null
      }
    >
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
    </View>
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
  return (
    <div className="flex flex-wrap gap-3">
      <Choice
        label={say.keys.whose}
        look={smallLook}
        value={whose}
        options={[
          ['mine', say.keys.mine],
          ...teams.map((team) => [`team:${team}`, say.keys.ofTeam(team)] as const),
          ...(hasAll ? [['all', say.keys.ofAll] as const] : []),
        ]}
        onChange={onWhose}
      />
      <Labelled label={say.keys.filter} look={{ ...smallLook, box: 'flex min-w-48 flex-1 flex-col gap-1' }}>
        {(field) => <input {...field} type="search" value={text} onChange={({ target }) => onText(target.value)} />}
      </Labelled>
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

/**
 * Whether content of the person's requests is kept, and the limits that name the person, in which their keys count too.
 *
 * @param round a new one asks again
 */
function OwnLimits({ round }: { readonly round: unknown }): ReactNode {
  const path = '/v1/key'
  const { answer, error } = useLoaded((client, signal) => client.get<OwnLimitsAnswer>(path, signal), path, round)
  // The keys are shown without limits that cannot be read; the list of keys tells why the service does not answer.
  const limits = error === undefined ? (answer?.limits ?? []) : []
  const content = answer?.content ?? null
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
