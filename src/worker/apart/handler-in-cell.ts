import { isNativeError } from 'node:util/types'
import type { JobDefinition } from '../definition.ts'
import type { Handler } from '../handler.ts'
import { HandlerContext } from '../handler-context.ts'
import { CannotRunHere } from '../interrupts.ts'
import type { Run } from '../run.ts'
import type { Around } from '../ways.ts'
import { Unusable } from './cell.ts'
import type { Cells } from './cells.ts'

/** The handler, run in a cell. Schemas are there: what they make of an input need not be able to travel. */
export function handlerInCell(definition: JobDefinition, cells: Cells, around: Around): Handler {
  const perform = async (input: unknown, run: Run): Promise<unknown> => {
    const inCell = around({ ...definition, run: () => cells.run(definition, input, run) })
    try {
      return await inCell.run(input, new HandlerContext(run))
    } catch (error) {
      // A type that asks for a process of its own has no other place to run in.
      if (isNativeError(error) && error instanceof Unusable && definition.isolate === undefined) {
        run.desk.log.warn('a job cannot run in a process of its own: it will run alone', {
          type: definition.type,
          reason: error.message,
        })
        throw new CannotRunHere(error.message)
      }
      throw error
    }
  }
  return {
    input: undefined,
    output: undefined,
    run: perform,
    undo: async (input, run) => void (await perform(input, run)),
    left: (run) => cells.leave(run),
  }
}
