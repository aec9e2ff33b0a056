/**
 * Whether a key belongs to the composition of an input method, which must neither send nor end anything. 229: in
 * Safari, the Enter that ends a composition arrives after its end.
 */
export function isComposing({ isComposing: is, keyCode }: Pick<KeyboardEvent, 'isComposing' | 'keyCode'>): boolean {
  return is || keyCode === 229
}
