/** A module that starts a worker when it is imported, as the program of an application does. */
import { open } from '../../src/open.ts'
import { quiet } from './cell-jobs.ts'

const pawl = await open('memory:', { log: 'silent' })
pawl.work([quiet])

export { quiet }
