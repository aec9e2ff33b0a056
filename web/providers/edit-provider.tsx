import { useState, type ReactNode } from 'react'
import { freeVariableMark } from '../../src/base/free-variable.ts'
import type { ProviderEdits, ProviderSettings } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Loading } from '../ui/loading.tsx'
import { Notice } from '../ui/notice.tsx'
import { useLoaded } from '../ui/use-answer.ts'
import { editsOf, emptyValues, faultsOfEdit, ownServer, valuesOf } from './form-draft.ts'
import { LookResult } from './form-fields.tsx'
import {
  Folded,
  KeyField,
  LastFields,
  mayTypeKeys,
  TextField,
  useProviderForm,
  VariableField,
} from './provider-form.tsx'

interface EditProviderProps {
  readonly id: string
  /** Changes the file of this version. @returns why it was not changed; `conflict`: it has another version by now */
  readonly save: (edit: ProviderEdits, version: string) => Promise<string | undefined>
  readonly onClose: () => void
}

/** A dialog that changes the entry of a provider: its address, the variable of its key, and its models. */
export function EditProvider({ id, save, onClose }: EditProviderProps): ReactNode {
  /** What was typed, if the file was changed meanwhile. */
  const [pending, setPending] = useState<ProviderEdits>()
  const path = `/api/providers/settings?${new URLSearchParams({ id }).toString()}`
  const { answer: settings, error } = useLoaded(
    (client, signal) => client.get<ProviderSettings>(path, signal),
    path,
    pending,
  )
  return (
    <Dialog title={say.providers.settingsOf(id)} isOpen size="lg" onClose={onClose}>
      {error === undefined ? null : (
        <Notice kind="error" title={say.providers.settingsFailed}>
          {error}
        </Notice>
      )}
      {settings !== undefined ? (
        <Form key={settings.version} onStale={setPending} {...{ settings, pending, save, onClose }} />
      ) : error === undefined ? (
        <Loading />
      ) : null}
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
  const { id, brand, baseUrl, key, variables, defaultTimeouts } = settings
  const form = useProviderForm({
    begins: { ...emptyValues, id, kind: brand ?? ownServer, ...valuesOf(settings, pending) },
    refusal: pending === undefined ? undefined : say.providers.edited,
    faultsOf: (values) => faultsOfEdit(values, settings),
    lookOf: (values) => ({ id, edit: editsOf(values, settings) }),
    async save(values) {
      const edit = editsOf(values, settings)
      const isChanged = Object.keys(edit).length > 0
      const why = isChanged ? await save(edit, settings.version) : undefined
      if (!isChanged) onClose()
      if (why === 'conflict') onStale(edit)
      return why === 'conflict' ? say.providers.edited : why
    },
  })
  const { faults, looked, refusal, isSaving } = form
  const mayType = mayTypeKeys(settings.keysFile)
  const about =
    key.kind === 'hidden'
      ? say.providers.keyHidden
      : say.providers.orEmpty([...variables, say.providers.nameThatBegins(freeVariableMark)].join(', '))
  const variable = <VariableField form={form} about={about} />
  return (
    <form className="flex flex-col gap-4" noValidate onSubmit={(event) => void form.submit(event)}>
      {brand === undefined ? (
        <TextField
          form={form}
          field="baseUrl"
          label={say.providers.baseUrl}
          about={say.providers.baseUrlNewHint}
          inputMode="url"
        />
      ) : (
        <p className="text-sm text-muted [overflow-wrap:anywhere]">
          {baseUrl === undefined ? say.providers.fixedBrand(brand) : say.providers.fixedAddress(baseUrl)}
        </p>
      )}
      {mayType ? <KeyField form={form} keysFile={settings.keysFile} /> : variable}
      <LookResult looked={looked} />
      <Folded
        title={mayType ? say.providers.restWithVariable : say.providers.rest}
        isOpen={
          settings.models !== undefined ||
          Object.keys(settings.timeouts).length > 0 ||
          (mayType && form.values.variable !== '')
        }
        hasFault={[faults.variable, faults.models, faults.timeouts].some((fault) => fault !== undefined)}
      >
        {mayType ? variable : null}
        <LastFields {...{ form, settings, defaultTimeouts }} />
      </Folded>
      <p role="alert" className="text-sm text-bad [overflow-wrap:anywhere] empty:hidden">
        {refusal}
      </p>
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>{say.common.cancel}</Button>
        <Button icon="play" aria-disabled={looked === 'running'} onClick={() => void form.test()}>
          {say.providers.test}
        </Button>
        <Button type="submit" variant="primary" icon="check" aria-disabled={isSaving}>
          {say.providers.save}
        </Button>
      </div>
    </form>
  )
}
