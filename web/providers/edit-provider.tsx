import { useState, type ReactNode } from 'react'
import { freeVariableMark } from '../../src/base/free-variable.ts'
import type { ProviderEdits, ProviderSettings } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { useLoaded } from '../ui/use-answer.ts'
import { describeLacks } from './describe-provider.ts'
import { editsOf, emptyValues, faultsOfEdit, ownServer, valuesOf } from './form-draft.ts'
import { FormDialog, FormFrame, KeyFields, TextField, useProviderForm } from './provider-form.tsx'

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
    <FormDialog
      title={say.providers.settingsOf(id)}
      failedTitle={say.providers.settingsFailed}
      failure={error}
      onClose={onClose}
    >
      {settings === undefined ? null : (
        <Form key={settings.version} onStale={setPending} {...{ settings, pending, save, onClose }} />
      )}
    </FormDialog>
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
  const lacks = typeof form.looked === 'object' ? form.looked.lacks : undefined
  const about =
    key.kind === 'hidden'
      ? say.providers.keyHidden
      : say.providers.orEmpty([...variables, say.providers.nameThatBegins(freeVariableMark)].join(', '))
  return (
    <FormFrame {...{ form, settings, defaultTimeouts, onClose }}>
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
      <KeyFields form={form} keysFile={settings.keysFile} about={`${about} ${say.providers.notTheKey}`} />
      {lacks === undefined ? null : (
        <p className="text-sm text-warn">{say.providers.askedOnceSo(describeLacks(lacks))}</p>
      )}
    </FormFrame>
  )
}
