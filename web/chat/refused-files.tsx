import type { ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { IconButton } from '../ui/button.tsx'
import { focusContent } from '../ui/focus-content.ts'
import { Notice } from '../ui/notice.tsx'
import type { Attachments } from './use-attachments.ts'

/** Lists files that could not be attached, with reasons. */
export function RefusedFiles({ attachments: { refused, dismiss } }: { readonly attachments: Attachments }): ReactNode {
  return (
    <div className="relative p-2">
      <Notice kind="error" title={say.chat.filesRefused(refused.length)}>
        <ul className="pr-8">
          {refused.map(({ name, why }, index) => (
            <li key={index}>
              <bdi>{name}</bdi>: {why}
            </li>
          ))}
        </ul>
      </Notice>
      <IconButton
        label={say.common.dismiss}
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
