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
import type { FormFaults, FormValues } from './form-draft.ts'
import { fieldLook, Labelled, lookWords, modelsFound, plainText, TimeoutFields } from './form-fields.tsx'
import { ModelChoice } from './model-choice.tsx'

// The form that adds or changes a provider: its state, and the fields that both have.

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
    /** @param isQuiet without a press: faults are not shown, and no question is asked */
    async test(isQuiet = false): Promise<void> {
      if (looked === 'running' || (isQuiet ? Object.keys(plan.faultsOf(values)).length > 0 : !isSound())) return
      setRefusal(undefined)
      setLooked('running')
      const test = (lastTest.current += 1)
      try {
        const found = await client.post<ProviderLook>('/api/providers/look', plan.lookOf(values))
        if (test !== lastTest.current) return
        setLooked(found)
        announce([lookWords(found), found.models === undefined ? '' : modelsFound(found)].join('. '))
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

/** The models that are offered, and the timeouts. @param settings of a provider that is there */
export function LastFields({
  form: { values, faults, looked, idOf, change },
  settings,
  defaultTimeouts,
}: {
  readonly form: ProviderForm
  readonly settings?: ProviderSettings
  readonly defaultTimeouts: Required<ProviderTimeouts>
}): ReactNode {
  const found = typeof looked === 'object' ? (looked.models ?? []) : []
  const offered = [...new Set([...(settings?.models ?? []), ...found])]
  return (
    <>
      {offered.length > 0 ? (
        <ModelChoice
          id={idOf('models')}
          offered={offered}
          chosen={values.models}
          fault={faults.models}
          onChange={(models) => change({ models })}
        />
      ) : (
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

/** What most entries do not need. Open if something in it is wrong. */
export function Folded({
  title,
  isOpen: begins = false,
  hasFault,
  children,
}: {
  readonly title: string
  readonly isOpen?: boolean
  readonly hasFault: boolean
  readonly children: ReactNode
}): ReactNode {
  const [isOpen, setOpen] = useState(begins)
  return (
    <details open={isOpen || hasFault} className="min-w-0" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="w-fit rounded-md text-sm font-medium text-muted pointer-coarse:py-2.5">{title}</summary>
      <div className="mt-3 flex flex-col gap-4">{children}</div>
    </details>
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

/** Whether the page takes keys: over https, or on the service's own machine. @param keysFile absent: nowhere */
export function mayTypeKeys(keysFile: string | undefined): keysFile is string {
  return keysFile !== undefined && window.isSecureContext
}

/** The key of a provider, for keys.env. */
export function KeyField({ form, keysFile }: { readonly form: ProviderForm; readonly keysFile: string }): ReactNode {
  return (
    <TextField
      form={form}
      field="key"
      type="password"
      label={say.providers.key}
      about={say.providers.keyHint(keysFile)}
    />
  )
}

/** The variable of a key. */
export function VariableField({
  form,
  about,
  placeholder,
}: {
  readonly form: ProviderForm
  readonly about: string
  readonly placeholder?: string | undefined
}): ReactNode {
  return (
    <TextField
      {...{ form, placeholder }}
      field="variable"
      label={say.providers.variable}
      about={`${about} ${say.providers.notTheKey}`}
    />
  )
}
