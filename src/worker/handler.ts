/** How jobs of a type run: by their handler in this process, or in a cell. */
import type { JobDefinition } from './definition.ts'
import { HandlerContext } from './handler-context.ts'
import type { Run } from './run.ts'

export interface Handler extends Pick<JobDefinition, 'input' | 'output'> {
  run(input: unknown, run: Run): unknown
  /** Phase `compensate`: undoes what earlier runs have done. */
  undo(input: unknown, run: Run): Promise<void>
  /** The run is over for its worker, whatever the handler still does. */
  left?(run: Run): void
}

export const handlerHere = (definition: JobDefinition): Handler => ({
  input: definition.input,
  output: definition.output,
  run: (input, run) => definition.run(input, new HandlerContext(run)),
  undo: (input, run) => new HandlerContext(run).undo(definition, input),
})
