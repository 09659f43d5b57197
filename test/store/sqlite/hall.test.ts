import { describe, it, onTestFinished } from 'vitest'
import { Ledger } from '../../../src/store/sqlite/thread/ledger.ts'
import { openFile } from '../../../src/store/sqlite/thread/open.ts'
import { storeClock } from '../../../src/store/sqlite/thread/store-clock.ts'
import { realClock } from '../../../src/system/clock.ts'
import { loadFlowCore } from '../../model/flow/flow-core.ts'
import { walkOnce } from '../../model/flow/walks.ts'
import { scaled } from '../../support/scale.ts'
import { ownFile } from './folder.ts'
import { HallTwin } from './hall-twin.ts'

const core = await loadFlowCore(new URL('../../../src/', import.meta.url))

describe('the hall in the tables', () => {
  it.each(Array.from({ length: scaled(10, 500) }, (_, i) => i + 1))(
    'is the hall of the model, step by step, on walk %i',
    (seed) => {
      const file = openFile(ownFile())
      onTestFinished(() => file.close())
      // Nothing of what is compared is of the disk.
      file.db.exec('PRAGMA synchronous = OFF')
      const steps: string[] = []
      try {
        walkOnce(new HallTwin(core, new Ledger(file, storeClock(realClock), 1_000)), seed, steps)
      } catch (error) {
        throw new Error(steps.slice(-30).join('\n'), { cause: error })
      }
    },
  )
})
