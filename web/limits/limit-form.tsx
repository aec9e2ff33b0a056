import { useRef, useState, type FormEvent, type ReactNode } from 'react'
import type { LimitDraftAnswer, LimitEffectEntry, LimitsAnswer } from '../../src/http/page/page-api.ts'
import { AnswerView } from '../app/answer-view.tsx'
import { hrefOf, navigate } from '../app/route.ts'
import { useServices } from '../services.ts'
import { say } from '../texts/say.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { formatCost } from '../ui/format.ts'
import { Loading } from '../ui/loading.tsx'
import { Notice } from '../ui/notice.tsx'
import { useLoaded } from '../ui/use-answer.ts'
import { ChangedLines } from './changed-lines.tsx'
import { LimitBar } from './limit-bar.tsx'
import { entryOf, fieldsOf, freeFields, wholeSubjects } from './limit-fields.ts'
import { LimitSentence } from './limit-sentence.tsx'
import { limitTitle } from './limit-words.ts'
import { useDraft, type Draft } from './use-draft.ts'

const limitsHref = hrefOf({ view: 'limits' })

/** Adds a limit, or changes the one at a place of access.json. */
export function LimitForm({ place }: { readonly place: number | undefined }): ReactNode {
  const state = useLoaded<{ readonly limits: LimitsAnswer; readonly draft?: LimitDraftAnswer }>(
    async (client, signal) => {
      const limits = await client.get<LimitsAnswer>('/api/limits', signal)
      if (place === undefined) return { limits }
      return { limits, draft: await client.post<LimitDraftAnswer>('/api/limits/draft', { place }, signal) }
    },
    `limit ${place}`,
  )
  return (
    <AnswerView
      title={place === undefined ? say.limitForm.add : say.limitForm.change}
      within={{ title: say.views.limits, href: limitsHref }}
      state={state}
    >
      {({ limits, draft }) => (
        <Form key={draft?.base.version} place={place} limits={limits} before={draft} onReload={state.reload} />
      )}
    </AnswerView>
  )
}

interface FormProps {
  readonly place: number | undefined
  readonly limits: LimitsAnswer
  /** The limit as it is in the file; `undefined`: it is new. */
  readonly before: LimitDraftAnswer | undefined
  readonly onReload: () => void
}

function Form({ place, limits, before, onReload }: FormProps): ReactNode {
  const { boot } = useServices()
  const [fields, setFields] = useState(() =>
    before?.entry === undefined ? freeFields(wholeSubjects(boot), limits.limits) : fieldsOf(before.entry),
  )
  const draft = useDraft({ place, limit: entryOf(fields, before?.entry), version: before?.base.version })
  const { answer } = draft
  const alert = useRef<HTMLDivElement>(null)
  const isSound = answer !== undefined && answer.faults.length === 0

  async function onSubmit(event: FormEvent): Promise<void> {
    event.preventDefault()
    if (await draft.save()) navigate({ view: 'limits' })
    else alert.current?.focus()
  }

  return (
    <div className="grid items-start gap-6 @3xl:grid-cols-[3fr_2fr]">
      <form className="flex min-w-0 flex-col gap-5" noValidate onSubmit={(event) => void onSubmit(event)}>
        <LimitSentence fields={fields} answer={limits} onChange={setFields} />
        <div ref={alert} tabIndex={-1} className="flex flex-col gap-2 outline-none empty:hidden">
          <Faults draft={draft} onReload={before === undefined ? undefined : onReload} />
        </div>
        <section className="flex min-w-0 flex-col gap-2">
          <h2 className="font-medium">{say.limitForm.lines}</h2>
          {answer === undefined ? <Loading /> : null}
          {isSound ? <ChangedLines before={answer.base.text ?? ''} after={answer.text} /> : null}
        </section>
        <div className="flex flex-wrap gap-2">
          <Button
            type="submit"
            variant="primary"
            aria-disabled={!isSound || !draft.isCurrent || draft.isSaving || answer.text === answer.base.text}
          >
            {say.limitForm.save}
          </Button>
          <ButtonLink href={limitsHref}>{say.common.cancel}</ButtonLink>
        </div>
      </form>
      {answer?.effect === undefined ? null : <Effect effect={answer.effect} limits={limits} />}
    </div>
  )
}

interface FaultsProps {
  readonly draft: Draft
  readonly onReload: (() => void) | undefined
}

/** Why the limit is not saved. */
function Faults({ draft: { answer, failure }, onReload }: FaultsProps): ReactNode {
  return (
    <>
      {failure === undefined ? null : (
        <Notice
          kind="error"
          title={say.limitForm.notSaved}
          actions={onReload && <Button onClick={onReload}>{say.limitForm.readAgain}</Button>}
        >
          {failure}
        </Notice>
      )}
      {answer === undefined || answer.faults.length === 0 ? null : (
        <Notice kind="error" title={say.accessFile.faults(answer.faults.length)}>
          <ul>
            {answer.faults.map(({ message }) => (
              <li key={message}>{message}</li>
            ))}
          </ul>
        </Notice>
      )}
    </>
  )
}

const aboveShownMax = 5

/** The effect of the limit now. */
function Effect({ effect, limits }: { readonly effect: LimitEffectEntry; readonly limits: LimitsAnswer }): ReactNode {
  const { counted, above, besides, unpriced } = effect
  const others = limits.limits.filter(({ place }) => besides.includes(place))
  return (
    <section
      aria-label={say.limitForm.today}
      className="flex min-w-0 flex-col gap-4 rounded-xl border border-line bg-panel p-4 [overflow-wrap:anywhere]"
    >
      <h2 className="font-medium">{say.limitForm.today}</h2>
      <div className="text-sm">
        <p>{say.limitForm.counted(counted)}</p>
        {above === undefined || (counted === 0 && above.length === 0) ? null : (
          <p>{say.limitForm.above(above.length)}</p>
        )}
        {above?.slice(0, aboveShownMax).map(({ name, used }) => (
          <p key={name} className="text-muted">
            <bdi>{name === '' ? say.limits.allTogether : name}</bdi>, {formatCost(used)}
          </p>
        ))}
      </div>
      {unpriced.map(({ provider, models, areRefused }) => (
        <Notice
          key={provider}
          kind="warn"
          title={say.limitForm.unpriced(provider)}
          actions={<ButtonLink href={hrefOf({ view: 'providers' })}>{say.limitForm.setPrice}</ButtonLink>}
        >
          {areRefused ? say.limitForm.isRefused(models.join(', ')) : say.limitForm.isLast(models.join(', '))}
        </Notice>
      ))}
      {others.length === 0 ? null : (
        <div className="flex flex-col gap-2">
          <h3 className="text-sm font-medium">{say.limitForm.besides}</h3>
          {others.map((row) => (
            <div key={`${row.place} ${row.kind}`} className="text-sm text-muted">
              <p>{limitTitle(row)}</p>
              {row.isApart ? null : <LimitBar row={row} use={row.uses[0]} timeZone={limits.timeZone} />}
            </div>
          ))}
        </div>
      )}
    </section>
  )
}
