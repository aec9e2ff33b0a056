import type { ReactNode } from 'react'
import { IconButton } from '../ui/button.tsx'
import { focusContent } from '../ui/focus-content.ts'
import { Notice } from '../ui/notice.tsx'
import type { Attachments } from './use-attachments.ts'

/** Lists files that could not be attached, with reasons. */
export function RefusedFiles({ attachments: { refused, dismiss } }: { readonly attachments: Attachments }): ReactNode {
  return (
    <div className="relative p-2">
      <Notice
        kind="error"
        title={refused.length === 1 ? 'A file was not added' : `${refused.length} files were not added`}
      >
        <ul className="pr-8">
          {refused.map(({ name, why }, index) => (
            <li key={index}>
              {name}: {why}
            </li>
          ))}
        </ul>
      </Notice>
      <IconButton
        label="Dismiss"
        icon="close"
        className="absolute top-3 right-3"
        onClick={() => {
          dismiss()
          focusContent()
        }}
      />
    </div>
  )
}
