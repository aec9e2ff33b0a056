/** The presets, loaded as one chunk. */
export { PresetList } from './preset-list.tsx'
export { PresetsPanel } from './presets-panel.tsx'
export { presetsOf } from './presets-store.ts'
