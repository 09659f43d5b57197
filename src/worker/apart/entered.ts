/**
 * Whether this process is a cell. A module that is imported there must not start what it starts in an application: the
 * worker it would begin would take jobs of its own. Known by a symbol of the whole process, whichever copy of pawl asks.
 */
const CELL = Symbol.for('pawl.cell')

export function enterCell(): void {
  Reflect.set(globalThis, CELL, true)
}

export const isCell = (): boolean => Reflect.get(globalThis, CELL) === true
