import { showBidiControls } from './bidi.ts'
import { judgeDestination, namesAnotherHost } from './destination.ts'
import { plainText, type Inline } from './inline.ts'

/**
 * A link, if it leads anywhere, with the name of its host where its text has another one; else its text and what was
 * written as its destination.
 */
export function showLink(target: string, children: readonly Inline[], isInLink: boolean): readonly Inline[] {
  const destination = judgeDestination(target)
  if (destination.kind !== 'link' || isInLink) return [...children, ...destinationAsText(target)]
  const link: Inline = {
    kind: 'link',
    address: destination.address,
    children: children.length > 0 ? children : [{ kind: 'text', text: destination.address }],
  }
  return namesAnotherHost(plainText(children), destination.host)
    ? [link, ...destinationAsText(destination.host)]
    : [link]
}

/** An image that is in the text; one from elsewhere is a link. */
export function showImage(target: string, children: readonly Inline[], isInLink: boolean): readonly Inline[] {
  const alternative = plainText(children),
    destination = judgeDestination(target)
  if (destination.kind === 'image') return [{ kind: 'image', source: destination.source, alternative }]
  const shown: Inline = { kind: 'text', text: alternative }
  if (destination.kind === 'none' || isInLink) return [shown, ...destinationAsText(target)]
  return [
    {
      kind: 'link',
      address: destination.address,
      children: [alternative === '' ? { kind: 'text', text: destination.address } : shown],
    },
  ]
}

/** An address that stands in the text, or undefined if it leads nowhere. */
export function showAddress(target: string, text: string): Inline | undefined {
  const destination = judgeDestination(target)
  return destination.kind === 'link'
    ? { kind: 'link', address: destination.address, children: [{ kind: 'text', text: showBidiControls(text) }] }
    : undefined
}

function destinationAsText(destination: string): readonly Inline[] {
  return destination === '' ? [] : [{ kind: 'text', text: ` (${showBidiControls(destination)})` }]
}
