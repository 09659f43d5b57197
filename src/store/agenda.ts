import type { Store } from './store.ts'

/** What `due` hands out from. `ticks`: records whose clock has run out. `judgements`: those that wait for a policy's word. */
export type Agenda = NonNullable<Parameters<Store['due']>[1]>
