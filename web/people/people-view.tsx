import { useId, useState, type ReactNode } from 'react'
import type { RefusedEntry, SessionEntry, SignedInEntry } from '../../src/http/page/page-api.ts'
import { AnswerView } from '../app/answer-view.tsx'
import { Avatar } from '../app/avatar.tsx'
import { displayNameOf } from '../app/display-name.ts'
import { restartOtherTabs, restartPage } from '../app/restart-page.ts'
import { hrefOf } from '../app/route.ts'
import { UsedBar } from '../limits/limit-bar.tsx'
import { placeOf, usedShare } from '../limits/limit-words.ts'
import { messageOf } from '../message-of.ts'
import { useServices } from '../services.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { Badge } from '../ui/badge.tsx'
import { Button, ButtonLink } from '../ui/button.tsx'
import { focusContent } from '../ui/focus-content.ts'
import { formatAgo, formatCost, formatMoment } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
import { Notice } from '../ui/notice.tsx'
import { useLoaded } from '../ui/use-answer.ts'
import { useNow } from '../ui/use-now.ts'
import { AdmissionDialog } from './admission-dialog.tsx'
import { SetUpSignIn } from './set-up-sign-in.tsx'
import { loadPeople, tightestOf, type PeopleState } from './use-people.ts'

const refreshMs = 30_000

/** The people who are signed in, for owners. While no one signs in, the form that has people do. */
export function PeopleView(): ReactNode {
  const { boot } = useServices()
  return boot.hasPeople === true ? <SignedIn /> : <SetUpSignIn />
}

/** The people who are signed in, their sessions, and those who were refused. */
function SignedIn(): ReactNode {
  const { boot, client } = useServices()
  const asked = { hasUsage: boot.hasUsage === true, hasLimits: boot.hasLimits === true }
  const now = useNow(refreshMs)
  const state = useLoaded((_, signal) => loadPeople(client, signal, asked), say.views.people, now)
  const [failure, setFailure] = useState<string>()
  const [admission, setAdmission] = useState<Admission>()

  /** Ends sessions. The page that ends its own is signed out. */
  async function end(what: object, isOwn: boolean): Promise<void> {
    setFailure(undefined)
    try {
      const { ended } = await client.post<{ readonly ended: number }>('/api/people/end', what)
      announce(say.people.ended(ended))
      if (isOwn) {
        restartOtherTabs()
        restartPage()
      }
      state.reload()
      // The button that had the focus is gone.
      focusContent()
    } catch (error) {
      setFailure(messageOf(error))
    }
  }

  return (
    <AnswerView
      title={say.views.people}
      about={state.answer === undefined ? undefined : say.people.about(state.answer.provider)}
      state={state}
    >
      {(answer) => (
        <>
          {failure === undefined ? null : (
            <Notice kind="error" title={say.people.failed}>
              {failure}
            </Notice>
          )}
          <RefusedUsers refused={answer.refused} now={now} onAdmit={(user) => setAdmission({ user, mayEnter: true })} />
          {answer.people.length === 0 ? <p>{say.people.none}</p> : null}
          <ul className="flex flex-col gap-2" aria-label={say.views.people}>
            {answer.people.map((person) => (
              <Person
                key={person.userId}
                {...{ person, answer, now, end }}
                onBlock={() =>
                  setAdmission({ user: { user: person.userName, userId: person.userId }, mayEnter: false })
                }
              />
            ))}
          </ul>
          {admission === undefined ? null : (
            <AdmissionDialog {...admission} onClose={() => setAdmission(undefined)} onSaved={state.reload} />
          )}
        </>
      )}
    </AnswerView>
  )
}

interface Admission {
  readonly user: Pick<RefusedEntry, 'user' | 'userId'>
  readonly mayEnter: boolean
}

/** Many strangers must not hide the people. */
const refusedShown = 3

function RefusedUsers({
  refused,
  now,
  onAdmit,
}: {
  readonly refused: readonly RefusedEntry[]
  readonly now: number
  readonly onAdmit: (user: RefusedEntry) => void
}): ReactNode {
  const rows = refused.map((user) => <Refused key={user.userId} user={user} now={now} onAdmit={() => onAdmit(user)} />)
  const further = rows.slice(refusedShown)
  return (
    <>
      {rows.slice(0, refusedShown)}
      {further.length === 0 ? null : (
        <details>
          <summary className="min-h-6 cursor-pointer text-sm pointer-coarse:min-h-11">
            {say.people.furtherRefused(further.length)}
          </summary>
          <div className="mt-2 flex flex-col gap-2">{further}</div>
        </details>
      )}
    </>
  )
}

function Refused({
  user: { user, tries, last },
  now,
  onAdmit,
}: {
  readonly user: RefusedEntry
  readonly now: number
  readonly onAdmit: () => void
}): ReactNode {
  return (
    <Notice
      kind="info"
      title={say.people.notLetIn(user)}
      actions={<Button onClick={onAdmit}>{say.people.admit(user)}</Button>}
    >
      {say.people.tries(tries, formatAgo(last, now))}
    </Notice>
  )
}

interface PersonProps {
  readonly person: SignedInEntry
  readonly answer: PeopleState
  readonly now: number
  readonly end: (what: object, isOwn: boolean) => Promise<void>
  readonly onBlock: () => void
}

function Person({ person, answer, now, end, onBlock }: PersonProps): ReactNode {
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const { userName, isOwner, teams, sessions } = person
  const budget = tightestOf(answer.limits, userName)
  const last = Math.max(...sessions.map(({ since, used = since }) => used))
  const cost = answer.month?.get(userName) ?? 0
  return (
    <li className="rounded-xl border border-line">
      <h2>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={id}
          title={say.people.more(userName)}
          className={
            'relative flex min-h-13 w-full flex-wrap items-center gap-x-4 gap-y-1 rounded-xl p-3 pr-9 text-start ' +
            'text-sm hover:bg-hover @2xl:grid @2xl:grid-cols-[minmax(0,1.5fr)_8rem_6rem_8.5rem_minmax(0,1fr)]'
          }
          onClick={() => setOpen(!isOpen)}
        >
          <span className="flex w-full min-w-0 items-center gap-3 [overflow-wrap:anywhere]">
            <Avatar user={person} />
            <span className="min-w-0">
              <bdi className="font-medium">{displayNameOf(person)}</bdi>
              <span className="block text-muted">
                <bdi>{userName}</bdi>
                {teams.map((team) => ` · ${say.people.team(team)}`)}{' '}
                {isOwner ? <Badge>{say.people.owner}</Badge> : null}
              </span>
            </span>
          </span>
          <span className="text-muted">{say.people.here(formatAgo(last, now))}</span>
          <span className="tabular-nums">{say.people.sessions(sessions.length)}</span>
          <span className="tabular-nums">
            {answer.month === undefined ? '' : say.people.thisMonth(formatCost(cost))}
          </span>
          <span className="min-w-0 tabular-nums">
            {budget === undefined ? null : (
              <>
                <UsedBar share={usedShare(budget.row.limit, budget.remaining)} />
                {say.people.left(say.limits.usedOf(formatCost(budget.remaining), formatCost(budget.row.limit)))}
              </>
            )}
          </span>
          <Icon name="chevron" className={`absolute inset-y-0 right-3 my-auto size-4 ${isOpen ? 'rotate-180' : ''}`} />
        </button>
      </h2>
      <div id={id} hidden={!isOpen} className="border-t border-line p-3">
        <ul className="flex flex-col gap-2">
          {sessions.map((session) => (
            <Session key={session.id} session={session} userName={userName} now={now} end={end} />
          ))}
        </ul>
        <div className="mt-3 flex flex-wrap gap-2">
          <Button
            onClick={() =>
              void end(
                { user: `id:${person.userId}` },
                sessions.some(({ isCurrent }) => isCurrent),
              )
            }
          >
            {say.people.endAll(sessions.length)}
          </Button>
          {budget === undefined ? null : (
            <ButtonLink href={hrefOf({ view: 'limits', id: placeOf(budget.row) })}>{say.people.raise}</ButtonLink>
          )}
          {answer.hasList && !sessions.some(({ isCurrent }) => isCurrent) ? (
            <Button variant="danger" onClick={onBlock}>
              {say.people.block}
            </Button>
          ) : null}
        </div>
      </div>
    </li>
  )
}

interface SessionProps extends Pick<PersonProps, 'now' | 'end'> {
  readonly session: SessionEntry
  readonly userName: string
}

function Session({ session, userName, now, end }: SessionProps): ReactNode {
  const { id, since, used, isCurrent } = session
  const device = deviceWords(session)
  return (
    <li className="flex flex-wrap items-center gap-2 text-sm">
      <span className="min-w-0 flex-1">
        <span className="font-medium">{device}</span>{' '}
        <span className="text-muted">
          {say.people.since(formatMoment(since))}
          {used === undefined ? '' : `, ${say.people.used(formatAgo(used, now))}`}
        </span>{' '}
        {isCurrent ? <Badge tone="ok">{say.people.thisOne}</Badge> : null}
      </span>
      <Button aria-label={say.people.endOf(device, userName)} onClick={() => void end({ session: id }, isCurrent)}>
        {say.people.end}
      </Button>
    </li>
  )
}

function deviceWords({ agent, browser, system }: SessionEntry): string {
  if (agent !== undefined) return say.people.agent(agent)
  if (browser !== undefined && system !== undefined) return say.people.device(browser, system)
  return browser ?? system ?? say.people.unknown
}
