import { useId, useRef, useState, type FormEvent, type ReactNode } from 'react'
import type {
  ProviderLook,
  ProviderLookRequest,
  ProviderSettings,
  ProviderTimeouts,
} from '../../src/http/page/page-api.ts'
import { messageOf } from '../message-of.ts'
import { useServices } from '../services.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Loading } from '../ui/loading.tsx'
import { Notice } from '../ui/notice.tsx'
import type { FormFaults, FormValues } from './form-draft.ts'
import { fieldLook, Labelled, LookResult, lookWords, plainText, TimeoutFields } from './form-fields.tsx'
import { ModelChoice } from './model-choice.tsx'

// The form that adds or changes a provider: its state, its frame, and the fields that both have.

/** A dialog with a form, as soon as there is one. */
export function FormDialog({
  title,
  failedTitle,
  failure,
  onClose,
  children,
}: {
  readonly title: string
  readonly failedTitle: string
  readonly failure: string | undefined
  readonly onClose: () => void
  readonly children: ReactNode
}): ReactNode {
  return (
    <Dialog title={title} isOpen size="lg" onClose={onClose}>
      {failure === undefined ? null : (
        <Notice kind="error" title={failedTitle}>
          {failure}
        </Notice>
      )}
      {children ?? (failure === undefined ? <Loading /> : null)}
    </Dialog>
  )
}

/** State and actions of the form. */
export type ProviderForm = ReturnType<typeof useProviderForm>

/** Holds what is typed. Faults are shown by a test and by saving, which move the focus to the first. */
export function useProviderForm(plan: {
  readonly begins: FormValues
  /** Shown at first. */
  readonly refusal?: string | undefined
  readonly faultsOf: (values: FormValues) => FormFaults
  readonly lookOf: (values: FormValues) => ProviderLookRequest
  /** @returns why it was not saved */
  readonly save: (values: FormValues) => Promise<string | undefined>
}) {
  const { client } = useServices()
  const id = useId()
  const [values, setValues] = useState(plan.begins)
  const [faults, setFaults] = useState<FormFaults>({})
  const [looked, setLooked] = useState<ProviderLook | 'running'>()
  /** Number of the last test; a change of what is tested ends it. */
  const lastTest = useRef(0)
  const [refusal, setRefusal] = useState(plan.refusal)
  const [isSaving, setSaving] = useState(false)
  const idOf = (name: string): string => `${id}-${name}`

  function isSound(): boolean {
    const found = plan.faultsOf(values)
    setFaults(found)
    const first = faultOrder.find((name) => found[name] !== undefined)
    if (first !== undefined) document.querySelector<HTMLElement>(`#${CSS.escape(idOf(first))}`)?.focus()
    return first === undefined
  }

  return {
    ...{ values, faults, looked, refusal, isSaving, idOf },
    change(more: Partial<FormValues>): void {
      setValues({ ...values, ...more })
      setRefusal(undefined)
      if ('kind' in more) setFaults({})
      // A list of models belongs to the address and the key that it was asked for with.
      if (!('kind' in more) && ('models' in more || 'timeouts' in more)) return
      lastTest.current += 1
      setLooked(undefined)
    },
    async test(): Promise<void> {
      if (looked === 'running' || !isSound()) return
      setRefusal(undefined)
      setLooked('running')
      const test = (lastTest.current += 1)
      try {
        const found = await client.post<ProviderLook>('/api/providers/look', plan.lookOf(values))
        if (test !== lastTest.current) return
        setLooked(found)
        announce(lookWords(found))
      } catch (error) {
        if (test !== lastTest.current) return
        setLooked(undefined)
        setRefusal(messageOf(error))
      }
    },
    async submit(event: FormEvent): Promise<void> {
      event.preventDefault()
      if (isSaving || !isSound()) return
      setSaving(true)
      const why = await plan.save(values)
      setSaving(false)
      setRefusal(why)
    },
  }
}

const faultOrder = ['kind', 'id', 'baseUrl', 'key', 'variable', 'models', 'timeouts'] as const

/** The form: own fields, then those that each form has. @param settings of a provider that is there */
export function FormFrame({
  form,
  settings,
  defaultTimeouts,
  onClose,
  children,
}: {
  readonly form: ProviderForm
  readonly settings?: ProviderSettings
  readonly defaultTimeouts: Required<ProviderTimeouts>
  readonly onClose: () => void
  readonly children: ReactNode
}): ReactNode {
  const { values, looked, refusal, isSaving } = form
  const isNew = settings === undefined
  return (
    <form className="flex flex-col gap-4" noValidate onSubmit={(event) => void form.submit(event)}>
      {children}
      {values.kind === '' ? null : <LastFields {...{ form, settings, defaultTimeouts }} />}
      <p role="alert" className="text-sm text-bad [overflow-wrap:anywhere] empty:hidden">
        {refusal}
      </p>
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>{say.common.cancel}</Button>
        <Button icon="play" aria-disabled={values.kind === '' || looked === 'running'} onClick={() => void form.test()}>
          {say.providers.test}
        </Button>
        <Button type="submit" variant="primary" icon={isNew ? 'plus' : 'check'} aria-disabled={isSaving}>
          {isNew ? say.providers.addIt : say.providers.save}
        </Button>
      </div>
    </form>
  )
}

/** The outcome of a test, the models that are offered, and the timeouts. */
function LastFields({
  form: { values, faults, looked, idOf, change },
  settings,
  defaultTimeouts,
}: {
  readonly form: ProviderForm
  readonly settings: ProviderSettings | undefined
  readonly defaultTimeouts: Required<ProviderTimeouts>
}): ReactNode {
  const found = typeof looked === 'object' ? (looked.models ?? []) : []
  const offered = [...new Set([...(settings?.models ?? []), ...found])]
  return (
    <>
      <LookResult looked={looked} />
      {offered.length > 0 ? (
        <ModelChoice
          id={idOf('models')}
          offered={offered}
          chosen={values.models}
          fault={faults.models}
          onChange={(models) => change({ models })}
        />
      ) : settings === undefined ? null : (
        <p className="text-sm text-muted">{say.providers.offersAll}</p>
      )}
      {settings?.hasModelFacts === true && values.models === undefined ? (
        <p className="text-sm text-warn">{say.providers.removesFacts}</p>
      ) : null}
      <TimeoutFields
        id={idOf('timeouts')}
        typed={values.timeouts}
        defaults={defaultTimeouts}
        fault={faults.timeouts}
        onChange={(timeouts) => change({ timeouts })}
      />
    </>
  )
}

/** Attributes of a field with faults. */
export function fieldOf({ faults, idOf }: ProviderForm, name: keyof FormFaults) {
  return {
    id: idOf(name),
    className: fieldLook,
    'aria-invalid': faults[name] !== undefined,
    'aria-describedby': `${idOf(name)}-about`,
  }
}

/** A field for a name or an address. */
export function TextField({
  form,
  field,
  label,
  about,
  ...more
}: {
  readonly form: ProviderForm
  readonly field: 'id' | 'baseUrl' | 'key' | 'variable'
  readonly label: string
  readonly about: string
  readonly inputMode?: 'url'
  readonly type?: 'password'
  readonly placeholder?: string | undefined
}): ReactNode {
  return (
    <Labelled id={form.idOf(field)} label={label} about={about} fault={form.faults[field]}>
      <input
        {...fieldOf(form, field)}
        {...plainText}
        {...more}
        value={form.values[field]}
        onChange={({ target }) => form.change({ [field]: target.value })}
      />
    </Labelled>
  )
}

/**
 * The key of a provider: typed, for keys.env, or the name of a variable. The page takes keys over https, or on the
 * service's own machine, only.
 */
export function KeyFields({
  form,
  keysFile,
  about,
  placeholder,
}: {
  readonly form: ProviderForm
  /** Absent: the service has no place for keys. */
  readonly keysFile: string | undefined
  /** About the variable. */
  readonly about: string
  readonly placeholder?: string | undefined
}): ReactNode {
  const mayType = keysFile !== undefined && window.isSecureContext
  const [isOpen, setOpen] = useState(!mayType || form.values.variable !== '')
  const variable = (
    <TextField form={form} field="variable" label={say.providers.variable} about={about} placeholder={placeholder} />
  )
  if (!mayType) return variable
  return (
    <>
      <TextField
        form={form}
        field="key"
        type="password"
        label={say.providers.key}
        about={say.providers.keyHint(keysFile)}
      />
      <details
        open={isOpen || form.faults.variable !== undefined}
        onToggle={(event) => setOpen(event.currentTarget.open)}
      >
        <summary className="w-fit rounded-md text-sm font-medium pointer-coarse:py-2.5">
          {say.providers.keyByVariable}
        </summary>
        <div className="mt-2">{variable}</div>
      </details>
    </>
  )
}
