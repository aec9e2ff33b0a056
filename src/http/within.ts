export { withinMs } from '../service/within.ts'
