import type { ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Notice } from '../ui/notice.tsx'
import type { ImportFault, ImportReport } from './transfer.ts'

/** How far an import is. */
export type ImportState =
  | { readonly kind: 'reading'; readonly name: string; readonly done: number; readonly all: number }
  | { readonly kind: 'done'; readonly name: string; readonly report: ImportReport }
  | { readonly kind: 'refused'; readonly name: string; readonly why: string }

const faultsShown = 100

/** What becomes of a file that is imported. It can be closed at any time; the import goes on. */
export function ImportDialog({
  state,
  onClose,
}: {
  readonly state: ImportState | undefined
  readonly onClose: () => void
}): ReactNode {
  return (
    <Dialog
      title={`Import of ${state?.name ?? ''}`}
      isOpen={state !== undefined}
      onClose={onClose}
      footer={
        <Button variant="primary" onClick={onClose}>
          Close
        </Button>
      }
    >
      {state === undefined ? null : <ImportBody state={state} />}
    </Dialog>
  )
}

function ImportBody({ state }: { readonly state: ImportState }): ReactNode {
  switch (state.kind) {
    case 'reading':
      return (
        <p role="status">{state.all === 0 ? 'Reading the file…' : `${state.done} of ${state.all} conversations…`}</p>
      )
    case 'refused':
      return (
        <Notice kind="error" title="Nothing was imported">
          {state.why}
        </Notice>
      )
    case 'done':
      return <Report report={state.report} />
  }
}

function Report({ report: { added, same, faults } }: { readonly report: ImportReport }): ReactNode {
  return (
    <>
      <p role="status">
        {added === 1 ? '1 conversation was added.' : `${added} conversations were added.`}
        {same === 0 ? '' : ` ${same} ${same === 1 ? 'was' : 'were'} here already.`}
      </p>
      {faults.length === 0 ? null : (
        <div className="mt-3">
          <Notice kind="warn" title={faults.length === 1 ? '1 was not imported' : `${faults.length} were not imported`}>
            <ul className="list-disc pl-5">
              {faults.slice(0, faultsShown).map((fault) => (
                <FaultLine key={fault.place} fault={fault} />
              ))}
            </ul>
            {faults.length > faultsShown ? <p>and {faults.length - faultsShown} more</p> : null}
          </Notice>
        </div>
      )}
    </>
  )
}

function FaultLine({ fault: { place, title, why } }: { readonly fault: ImportFault }): ReactNode {
  return (
    <li>
      Number {place}
      {title === undefined ? null : (
        <>
          {' '}
          (“<bdi>{title}</bdi>”)
        </>
      )}
      : {why}
    </li>
  )
}
