import { useState, type ReactNode } from 'react'
import type { LimitRowEntry, LimitsAnswer, LimitUseEntry } from '../../src/http/page/page-api.ts'
import { AnswerView } from '../app/answer-view.tsx'
import { hrefOf, navigate } from '../app/route.ts'
import { useKeyNames } from '../keys/use-keys.ts'
import { useServices } from '../services.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { formatCount, formatMoment } from '../ui/format.ts'
import { lazily } from '../ui/lazily.tsx'
import { Menu } from '../ui/menu.tsx'
import { Notice } from '../ui/notice.tsx'
import { useAnswer } from '../ui/use-answer.ts'
import { useNow } from '../ui/use-now.ts'
import { LimitBar, UsedBar } from './limit-bar.tsx'
import { LimitForm } from './limit-form.tsx'
import {
  amountOf,
  backWords,
  limitFacts,
  limitTitle,
  limitWords,
  placeOf,
  subjectWords,
  usedShare,
  windowWords,
} from './limit-words.ts'
import { RemoveLimit } from './remove-limit.tsx'

const refreshMs = 10_000
const EditAccess = lazily(async () => (await import('./edit-access.tsx')).EditAccess)

/** The limits of access.json with their use, for owners. */
export function LimitsView({ id }: { readonly id?: string }): ReactNode {
  if (id === undefined) return <AllLimits />
  return <LimitForm key={id} place={/^\d{1,4}$/.test(id) ? Number(id) : undefined} />
}

function AllLimits(): ReactNode {
  const state = useAnswer<LimitsAnswer>(() => '/api/limits', 'limits', refreshMs)
  const zone = state.answer === undefined ? '' : say.limits.zone(state.answer.timeZone)
  const [isEditing, setEditing] = useState(false)
  return (
    <AnswerView
      title={say.views.limits}
      about={`${say.limits.about}${zone}`}
      actions={
        state.answer?.mayEdit === true ? (
          <>
            <Button icon="edit" isShort onClick={() => setEditing(true)}>
              {say.accessFile.edit}
            </Button>
            <ButtonLink icon="plus" isShort href={hrefOf({ view: 'limits', id: 'new' })} variant="primary">
              {say.limitForm.add}
            </ButtonLink>
          </>
        ) : null
      }
      state={state}
    >
      {(answer) => (
        <>
          <Limits answer={answer} onRemoved={state.reload} />
          {isEditing ? (
            <EditAccess
              onClose={() => setEditing(false)}
              onSaved={() => {
                setEditing(false)
                state.reload()
              }}
            />
          ) : null}
        </>
      )}
    </AnswerView>
  )
}

interface LimitsProps {
  readonly answer: LimitsAnswer
  readonly onRemoved: () => void
}

function Limits({ answer, onRemoved }: LimitsProps): ReactNode {
  const { file, fault, timeZone, limits, teams, mayEdit = false } = answer
  const now = useNow(1_000)
  const [removing, setRemoving] = useState<LimitRowEntry>()
  const { boot } = useServices()
  const keyNames = useKeyNames(boot.hasKeys === true && limits.some((row) => row.for.startsWith('key:')))
  return (
    <>
      {fault === undefined ? null : (
        <Notice kind="warn" title={say.limits.notActive(formatMoment(fault.time))}>
          <p className="whitespace-pre-wrap">{fault.reason}</p>
        </Notice>
      )}
      {limits.length === 0 ? <NoLimits file={file} /> : null}
      <ul className="flex flex-col gap-3" aria-label={say.views.limits}>
        {limits.map((row) => (
          <LimitCard
            key={`${row.place} ${row.kind} ${row.per}`}
            {...{ row, now, timeZone, mayEdit }}
            subject={keyNames.get(row.for) ?? subjectWords(row.for)}
            onRemove={() => setRemoving(row)}
          />
        ))}
      </ul>
      {removing === undefined ? null : (
        <RemoveLimit row={removing} onClose={() => setRemoving(undefined)} onRemoved={onRemoved} />
      )}
      {teams.length === 0 ? null : <Teams teams={teams} />}
      {limits.some(({ kind }) => kind === 'requests' || kind === 'tokens') ? (
        <p className="text-sm text-muted">{say.limits.inMemory}</p>
      ) : null}
      {limits.length > 0 && file !== undefined ? (
        <p className="text-sm text-muted [overflow-wrap:anywhere]">
          {rich(say.limits.changedIn, { file: <code>{file}</code> })}
        </p>
      ) : null}
    </>
  )
}

const example = '{ "limits": [{ "for": "everyone", "usd": 20, "per": "month" }] }'

function NoLimits({ file }: { readonly file: string | undefined }): ReactNode {
  return (
    <div className="flex flex-col gap-2 rounded-xl border border-line bg-panel p-6 [overflow-wrap:anywhere]">
      <p className="font-medium">{say.limits.none}</p>
      {file === undefined ? (
        <p className="text-sm">{say.accessFile.noFolder}</p>
      ) : (
        <>
          <p className="text-sm">{rich(say.limits.write, { file: <code>{file}</code> })}</p>
          <pre className="overflow-x-auto rounded-lg bg-hover p-3 text-sm" tabIndex={0} aria-label={say.limits.example}>
            {example}
          </pre>
        </>
      )}
    </div>
  )
}

/** Callers that are shown before a button shows all. */
const shownFirst = 5

interface LimitCardProps {
  readonly row: LimitRowEntry
  /** For whom it is, in words. */
  readonly subject: string
  readonly now: number
  readonly timeZone: string
  readonly mayEdit: boolean
  readonly onRemove: () => void
}

function LimitCard({ row, subject, now, timeZone, mayEdit, onRemove }: LimitCardProps): ReactNode {
  const [isWhole, setWhole] = useState(false)
  const { uses, isApart } = row
  const shown = isWhole ? uses : uses.slice(0, shownFirst)
  const words = limitWords(row)
  return (
    <li className="flex min-w-0 flex-col gap-2 rounded-xl border border-line bg-panel p-4">
      <div className="flex items-start justify-between gap-2">
        <div className="min-w-0 [overflow-wrap:anywhere]">
          <h2 className="font-medium">{rich(say.limits.title, { words, subject: <bdi>{subject}</bdi> })}</h2>
          <p className="text-sm text-muted">{limitFacts(row)}</p>
        </div>
        {mayEdit ? (
          <Menu
            label={say.limitForm.actions(limitTitle(row, subject))}
            icon="more"
            items={[
              {
                label: say.limitForm.changeIt,
                icon: 'edit',
                run: () => navigate({ view: 'limits', id: placeOf(row) }),
              },
              { label: say.limitForm.removeIt, icon: 'trash', isDanger: true, run: onRemove },
            ]}
          />
        ) : null}
      </div>
      {isApart ? <WindowEnd row={row} timeZone={timeZone} /> : null}
      {uses.length === 0 ? (
        <p className="text-sm">{isApart ? say.limits.noneAsked : say.limits.notCounted}</p>
      ) : !isApart ? (
        <LimitBar row={row} use={uses[0]} timeZone={timeZone} />
      ) : (
        <UseTable row={row} uses={shown} now={now} caption={say.limits.caption(words, subject)} />
      )}
      {uses.length > shown.length ? (
        <Button className="self-start" onClick={() => setWhole(true)}>
          {say.limits.showAll(formatCount(uses.length))}
        </Button>
      ) : null}
    </li>
  )
}

interface UseTableProps {
  readonly row: LimitRowEntry
  readonly uses: readonly LimitUseEntry[]
  readonly now: number
  readonly caption: string
}

function UseTable({ row, uses, now, caption }: UseTableProps): ReactNode {
  const { kind, limit } = row
  const isMoney = kind === 'usd'
  const isRate = kind === 'requests' || kind === 'tokens'
  const amount = (value: number | undefined): string => (value === undefined ? '' : amountOf(kind, value))
  return (
    <table className="w-full text-right sm:table-fixed text-sm tabular-nums">
      <caption className="sr-only">{caption}</caption>
      <thead className="text-xs text-muted">
        <tr>
          <th scope="col" className="w-2/5 py-1 text-left font-medium">
            {say.limits.who}
          </th>
          <th scope="col" className="py-1 pl-2 font-medium">
            {say.limits.used}
          </th>
          {isMoney ? (
            <th scope="col" className="py-1 pl-2 font-medium">
              {say.limits.held}
            </th>
          ) : null}
          <th scope="col" className="py-1 pl-2 font-medium">
            {say.limits.left}
          </th>
          {isRate ? (
            <th scope="col" className="py-1 pl-2 font-medium">
              {say.limits.allBack}
            </th>
          ) : null}
        </tr>
      </thead>
      <tbody>
        {uses.map(({ name, used, held, remaining, backAt }) => (
          <tr key={name} className="border-t border-line align-top">
            <th scope="row" className="py-1.5 text-left font-normal [overflow-wrap:anywhere]">
              <bdi>{name}</bdi>
              <UsedBar share={usedShare(limit, remaining)} />
            </th>
            <td className="py-1.5 pl-2">{amount(used)}</td>
            {isMoney ? <td className="py-1.5 pl-2">{amount(held)}</td> : null}
            <td className={`py-1.5 pl-2 ${remaining === 0 ? 'font-medium text-bad' : ''}`}>{amount(remaining)}</td>
            {isRate ? <td className="py-1.5 pl-2 min-[22.5rem]:whitespace-nowrap">{backWords(backAt, now)}</td> : null}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** When the windows of callers that are counted apart begin again. */
function WindowEnd({ row, timeZone }: { readonly row: LimitRowEntry; readonly timeZone: string }): ReactNode {
  const words = windowWords(row, timeZone).replace(/^, /, '')
  return words === '' ? null : <p className="text-sm text-muted">{words}</p>
}

function Teams({ teams }: { readonly teams: LimitsAnswer['teams'] }): ReactNode {
  return (
    <details className="rounded-xl border border-line bg-panel p-4 text-sm">
      <summary className="font-medium">{say.limits.teams(formatCount(teams.length))}</summary>
      <dl className="mt-2 flex flex-col gap-2 [overflow-wrap:anywhere]">
        {teams.map(({ name, leads, members }) => (
          <div key={name}>
            <dt className="font-medium">{name}</dt>
            <dd className="text-muted">
              {leads.length === 0 ? '' : say.limits.leads(leads.join(', '))}
              {members.length === 0 ? say.limits.noMembers : say.limits.members(members.join(', '))}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
