import { useEffect, useId, useState, type FormEvent, type ReactNode } from 'react'
import type { SignInAnswer, SignInChange, SignInDraftAnswer } from '../../src/http/page/page-api.ts'
import { AnswerView } from '../app/answer-view.tsx'
import { restartOtherTabs, restartPage } from '../app/restart-page.ts'
import { ChangedLines } from '../limits/changed-lines.tsx'
import { messageOf } from '../message-of.ts'
import { fieldLook, Labelled, plainText } from '../providers/form-fields.tsx'
import { useServices } from '../services.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Notice } from '../ui/notice.tsx'
import { useLoaded, type AnswerState } from '../ui/use-answer.ts'
import { draftOf, missingFields, type SignInFields } from './sign-in-fields.ts'

const draftAfterMs = 300
const panelLook = 'flex min-w-0 flex-col gap-4 rounded-xl border border-line bg-panel p-4 [overflow-wrap:anywhere]'
const words = say.signInSetUp

/** Has people sign in: the form for owners while no one does. */
export function SetUpSignIn(): ReactNode {
  const state = useLoaded((client, signal) => client.get<SignInAnswer>('/api/sign-in', signal), 'sign-in')
  return (
    <AnswerView title={say.views.people} about={words.about} state={state}>
      {(answer) => <Form answer={answer} />}
    </AnswerView>
  )
}

function Form({ answer }: { readonly answer: SignInAnswer }): ReactNode {
  const { client } = useServices()
  const id = useId()
  const [fields, setFields] = useState(() => firstFields(answer))
  const [areFaultsShown, showFaults] = useState(false)
  const [failure, setFailure] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const [isWritten, setWritten] = useState(false)
  const draft = useSignInDraft(draftOf(fields, location.origin))
  const set = (more: Partial<SignInFields>): void => {
    setFields({ ...fields, ...more })
    setFailure(undefined)
  }

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    const [first] = missingFields(fields)
    const change = draftOf(fields, location.origin)
    showFaults(true)
    if (first !== undefined) document.querySelector<HTMLElement>(`#${CSS.escape(`${id}-${first}`)}`)?.focus()
    if (change === undefined || first !== undefined || draft.answer?.faults.length !== 0 || isBusy) return
    setBusy(true)
    setFailure(undefined)
    try {
      const whole = { ...change, clientSecret: fields.clientSecret.trim(), version: draft.answer.version }
      await client.post('/api/sign-in', whole satisfies SignInChange)
      if (answer.isOffByFlag === true) {
        setWritten(true)
        return
      }
      restartOtherTabs()
      restartPage()
    } catch (error) {
      setFailure(messageOf(error))
      setBusy(false)
      draft.reload()
    }
  }

  if (isWritten) return <Notice kind="info" title={words.isWritten} />
  return (
    <form
      className="grid items-start gap-6 @3xl:grid-cols-[3fr_2fr]"
      noValidate
      onSubmit={(event) => void submit(event)}
    >
      <div className="flex min-w-0 flex-col gap-4">
        <ProviderFields id={id} answer={answer} fields={fields} areFaultsShown={areFaultsShown} set={set} />
        <PeopleFields id={id} fields={fields} areFaultsShown={areFaultsShown} set={set} />
        {answer.mayAddKeys ? (
          <label className="flex min-h-9 items-start gap-3 text-sm pointer-coarse:min-h-11">
            <input
              type="checkbox"
              className="mt-0.5 size-4 shrink-0 accent-accent"
              checked={fields.hasKeys}
              onChange={({ target }) => set({ hasKeys: target.checked })}
            />
            <span>{words.keysToo}</span>
          </label>
        ) : null}
      </div>
      <section className={panelLook}>
        <h2 className="font-medium">{words.whatHappens}</h2>
        <Written draft={draft} />
        <p className="text-sm">{words.wayBack}</p>
        {failure === undefined ? null : (
          <Notice kind="error" title={words.failed}>
            {failure}
          </Notice>
        )}
        <Button type="submit" variant="primary" className="self-start" aria-disabled={isBusy}>
          {isBusy ? words.switching : words.switchOn}
        </Button>
      </section>
    </form>
  )
}

function firstFields({ providers: [provider], mayAddKeys }: SignInAnswer): SignInFields {
  if (provider === undefined) throw new RangeError()
  return { provider, place: '', clientId: '', clientSecret: '', user: '', others: '', hasKeys: mayAddKeys }
}

/** How the files would look, a moment after the last change. */
function useSignInDraft(change: SignInChange | undefined): AnswerState<SignInDraftAnswer | undefined> {
  const typed = change === undefined ? '' : JSON.stringify(change)
  const [settled, setSettled] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed), draftAfterMs)
    return () => clearTimeout(timer)
  }, [typed])
  return useLoaded(
    async (client, signal) =>
      settled === '' ? undefined : client.post<SignInDraftAnswer>('/api/sign-in/draft', JSON.parse(settled), signal),
    'draft',
    settled,
  )
}

interface FieldsProps {
  readonly id: string
  readonly fields: SignInFields
  readonly areFaultsShown: boolean
  readonly set: (more: Partial<SignInFields>) => void
}

/** Where people sign in, and the client that is registered there. */
function ProviderFields({ answer, ...props }: FieldsProps & { readonly answer: SignInAnswer }): ReactNode {
  const { id, fields, set } = props
  const { provider } = fields
  const callback = `${location.origin}${answer.callbackPath}`
  return (
    <>
      <Labelled id={`${id}-provider`} label={words.provider}>
        <select
          id={`${id}-provider`}
          className={fieldLook}
          value={provider.id}
          onChange={({ target }) => {
            const chosen = answer.providers.find((each) => each.id === target.value)
            if (chosen !== undefined) set({ provider: chosen, place: '' })
          }}
        >
          {answer.providers.map((each) => (
            <option key={each.id} value={each.id}>
              {each.name}
            </option>
          ))}
        </select>
      </Labelled>
      {provider.place === undefined ? null : (
        <TextField
          {...props}
          field="place"
          label={words.places[provider.place.kind]}
          about={provider.place.isRequired ? undefined : words.mayBeEmpty}
        />
      )}
      <div className="flex min-w-0 flex-col gap-1">
        <p className="text-sm font-medium">{words.callback}</p>
        <div className="flex items-center gap-2 rounded-lg border border-line bg-panel ps-3">
          <code className="min-w-0 flex-1 py-1.5 text-sm [overflow-wrap:anywhere]">{callback}</code>
          <CopyButton text={callback} label={words.copyCallback} />
        </div>
        <p className="text-sm text-muted">
          {words.callbackAbout}{' '}
          {provider.registerUrl === undefined ? null : (
            <a href={provider.registerUrl} target="_blank" rel="noreferrer" className="text-accent underline">
              {words.register(provider.name)}
            </a>
          )}
        </p>
      </div>
      <TextField {...props} field="clientId" label={words.clientId} />
      <TextField {...props} field="clientSecret" label={words.clientSecret} about={words.secretAbout} type="password" />
    </>
  )
}

function PeopleFields(props: FieldsProps): ReactNode {
  const { id, fields, set } = props
  return (
    <>
      <TextField {...props} field="user" label={words.user(fields.provider.name)} about={words.userAbout} />
      <Labelled id={`${id}-others`} label={words.others} about={words.othersAbout}>
        <textarea
          {...plainText}
          id={`${id}-others`}
          aria-describedby={`${id}-others-about`}
          rows={2}
          className={`${fieldLook} py-1.5`}
          value={fields.others}
          onChange={({ target }) => set({ others: target.value })}
        />
      </Labelled>
    </>
  )
}

interface TextFieldProps extends FieldsProps {
  readonly field: 'place' | 'clientId' | 'clientSecret' | 'user'
  readonly label: string
  readonly about?: string | undefined
  readonly type?: 'password'
}

function TextField({ id, fields, areFaultsShown, set, field, label, about = '', type }: TextFieldProps): ReactNode {
  const isMissing = areFaultsShown && missingFields(fields).includes(field)
  return (
    <Labelled id={`${id}-${field}`} label={label} about={about} fault={isMissing ? words.missing : undefined}>
      <input
        {...plainText}
        id={`${id}-${field}`}
        type={type}
        autoComplete={type === 'password' ? 'new-password' : 'off'}
        className={fieldLook}
        aria-invalid={isMissing}
        aria-describedby={`${id}-${field}-about`}
        value={fields[field]}
        onChange={({ target }) => set({ [field]: target.value })}
      />
    </Labelled>
  )
}

/** The members that are written, or why they are not. */
function Written({ draft: { answer, error } }: { readonly draft: AnswerState<SignInDraftAnswer | undefined> }) {
  if (error !== undefined)
    return (
      <Notice kind="error" title={words.notValid}>
        {error}
      </Notice>
    )
  if (answer === undefined) return <p className="text-sm text-muted">{words.fillIn}</p>
  if (answer.faults.length > 0)
    return (
      <Notice kind="error" title={words.notValid}>
        {answer.faults.join(' ')}
      </Notice>
    )
  return answer.files.map(({ file, before, after }) => (
    <div key={file} className="flex min-w-0 flex-col gap-1">
      <p className="text-sm text-muted">{words.writes(file)}</p>
      <ChangedLines before={before} after={after} hasNumbers={false} />
    </div>
  ))
}
