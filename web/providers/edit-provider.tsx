import { useEffect, useId, useState, type FormEvent, type ReactNode } from 'react'
import type {
  ProviderEdits,
  ProviderLook,
  ProviderLookRequest,
  ProviderSettings,
} from '../../src/http/page/page-api.ts'
import { useServices } from '../services.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Loading } from '../ui/loading.tsx'
import { Notice } from '../ui/notice.tsx'
import { describeLacks } from './describe-provider.ts'
import { editsOf, faultsOfEdit, valuesOf, type EditFaults, type EditValues } from './edit-values.ts'
import { freeVariableMark } from './form-draft.ts'
import { fieldLook, Labelled, LookResult, lookWords, plainText } from './form-fields.tsx'
import { ModelChoice } from './model-choice.tsx'
import { TimeoutFields } from './timeout-fields.tsx'

/** Props of {@link EditProvider}. */
export interface EditProviderProps {
  readonly id: string
  /** Changes the file of this version. @returns why it was not changed; `conflict`: it has another version by now */
  readonly save: (edit: ProviderEdits, version: string) => Promise<string | undefined>
  readonly onClose: () => void
}

/** A dialog that changes the entry of a provider: its address, the variable of its key, and its models. */
export function EditProvider({ id, save, onClose }: EditProviderProps): ReactNode {
  const { client } = useServices()
  const [settings, setSettings] = useState<ProviderSettings>()
  const [failure, setFailure] = useState<string>()
  /** What was typed, if the file was changed meanwhile. */
  const [pending, setPending] = useState<ProviderEdits>()
  useEffect(() => {
    const leaving = new AbortController()
    client
      .get<ProviderSettings>(`/api/providers/settings?${new URLSearchParams({ id }).toString()}`, leaving.signal)
      .then(setSettings, (error: unknown) => {
        if (!leaving.signal.aborted) setFailure(error instanceof Error ? error.message : String(error))
      })
    return () => leaving.abort()
  }, [client, id, pending])
  return (
    <Dialog title={say.providers.settingsOf(id)} isOpen size="lg" onClose={onClose}>
      {failure === undefined ? null : (
        <Notice kind="error" title={say.providers.settingsFailed}>
          {failure}
        </Notice>
      )}
      {settings === undefined ? (
        failure === undefined ? (
          <Loading />
        ) : null
      ) : (
        <Form
          key={settings.version}
          settings={settings}
          pending={pending}
          save={save}
          onClose={onClose}
          onStale={setPending}
        />
      )}
    </Dialog>
  )
}

function Form({
  settings,
  pending,
  save,
  onClose,
  onStale,
}: Omit<EditProviderProps, 'id'> & {
  readonly settings: ProviderSettings
  readonly pending: ProviderEdits | undefined
  /** Reads the settings again. */
  readonly onStale: (typed: ProviderEdits) => void
}): ReactNode {
  const { client } = useServices()
  const id = useId()
  const [values, setValues] = useState(() => valuesOf(settings, pending))
  const [faults, setFaults] = useState<EditFaults>({})
  const [looked, setLooked] = useState<ProviderLook | 'running'>()
  const [refusal, setRefusal] = useState(pending === undefined ? undefined : say.providers.edited)
  const [isSaving, setSaving] = useState(false)
  const isFixed = settings.brand !== undefined

  function change(more: Partial<EditValues>): void {
    setValues({ ...values, ...more })
    setRefusal(undefined)
    if (!('models' in more || 'timeouts' in more)) setLooked(undefined)
  }

  /** Shows faults, and moves the focus to the first. */
  function isSound(): boolean {
    const found = faultsOfEdit(values, settings)
    setFaults(found)
    const first = (['baseUrl', 'variable', 'models', 'timeouts'] as const).find((name) => found[name] !== undefined)
    if (first !== undefined) document.querySelector<HTMLElement>(`#${CSS.escape(`${id}-${first}`)}`)?.focus()
    return first === undefined
  }

  async function test(): Promise<void> {
    if (looked === 'running' || !isSound()) return
    setRefusal(undefined)
    setLooked('running')
    try {
      const wanted: ProviderLookRequest = { id: settings.id, edit: editsOf(values, settings) }
      const found = await client.post<ProviderLook>('/api/providers/look', wanted)
      setLooked(found)
      announce(lookWords(found))
    } catch (error) {
      setLooked(undefined)
      setRefusal(error instanceof Error ? error.message : String(error))
    }
  }

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    if (isSaving || !isSound()) return
    const edit = editsOf(values, settings)
    if (Object.keys(edit).length === 0) {
      onClose()
      return
    }
    setSaving(true)
    const why = await save(edit, settings.version)
    setSaving(false)
    if (why === 'conflict') onStale(edit)
    else setRefusal(why)
  }

  const field = (name: keyof EditFaults) => ({
    id: `${id}-${name}`,
    className: fieldLook,
    'aria-invalid': faults[name] !== undefined,
    'aria-describedby': `${id}-${name}-about`,
  })
  const { key, variables, hasModelFacts = false } = settings
  const found = typeof looked === 'object' ? (looked.models ?? []) : []
  const offered = [...new Set([...(settings.models ?? []), ...found])]
  return (
    <form className="flex flex-col gap-4" noValidate onSubmit={(event) => void submit(event)}>
      {isFixed ? (
        <p className="text-sm text-muted [overflow-wrap:anywhere]">
          {settings.baseUrl === undefined
            ? say.providers.fixedBrand(settings.brand ?? '')
            : say.providers.fixedAddress(settings.baseUrl)}
        </p>
      ) : (
        <Labelled
          id={`${id}-baseUrl`}
          label={say.providers.baseUrl}
          about={say.providers.baseUrlNewHint}
          fault={faults.baseUrl}
        >
          <input
            {...field('baseUrl')}
            {...plainText}
            inputMode="url"
            value={values.baseUrl}
            onChange={({ target }) => change({ baseUrl: target.value })}
          />
        </Labelled>
      )}
      <Labelled
        id={`${id}-variable`}
        label={say.providers.variable}
        about={
          (key.kind === 'hidden'
            ? say.providers.keyHidden
            : say.providers.orEmpty([...variables, say.providers.nameThatBegins(freeVariableMark)].join(', '))) +
          ` ${say.providers.notTheKey}`
        }
        fault={faults.variable}
      >
        <input
          {...field('variable')}
          {...plainText}
          value={values.variable}
          onChange={({ target }) => change({ variable: target.value })}
        />
      </Labelled>
      <LookResult looked={looked} />
      {typeof looked === 'object' && looked.lacks !== undefined ? (
        <p className="text-sm text-warn">{say.providers.askedOnceSo(describeLacks(looked.lacks))}</p>
      ) : null}
      {offered.length === 0 ? (
        <p className="text-sm text-muted">{say.providers.offersAll}</p>
      ) : (
        <ModelChoice
          id={`${id}-models`}
          offered={offered}
          chosen={values.models}
          fault={faults.models}
          onChange={(models) => change({ models })}
        />
      )}
      {hasModelFacts && values.models === undefined ? (
        <p className="text-sm text-warn">{say.providers.removesFacts}</p>
      ) : null}
      <TimeoutFields
        id={`${id}-timeouts`}
        typed={values.timeouts}
        defaults={settings.defaultTimeouts}
        fault={faults.timeouts}
        onChange={(timeouts) => change({ timeouts })}
      />
      <p role="alert" className="text-sm text-bad [overflow-wrap:anywhere] empty:hidden">
        {refusal}
      </p>
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>{say.common.cancel}</Button>
        <Button icon="play" aria-disabled={looked === 'running'} onClick={() => void test()}>
          {say.providers.test}
        </Button>
        <Button type="submit" variant="primary" icon="check" aria-disabled={isSaving}>
          {say.providers.save}
        </Button>
      </div>
    </form>
  )
}
