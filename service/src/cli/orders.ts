import type { Command } from 'commander';
import type { ReadConfig } from '../config.ts';
import { openDependencies } from '../dependencies.ts';
import { eraseAdopterOf } from '../orders/orders.ts';
import { parseId, printJson, UsageError } from './output.ts';

export function addOrderCommands(program: Command, config: ReadConfig): void {
  const orders = program.command('orders').description("erase an adopter's data");

  orders
    .command('erase')
    .description("remove the adopter's name and e-mail from an order and from the answers kept for repeats; the order stays")
    .argument('<id>', 'the order')
    .option('--json', 'print one JSON object')
    .action(async (id: string, { json }: { json?: boolean }) => {
      await using dependencies = await openDependencies(config());
      const erased = await eraseAdopterOf(dependencies.db, parseId(id));
      if (!erased) throw new UsageError(`There is no order ${id}.`);
      if (json) printJson({ id: parseId(id), erased: true, answers: erased.answers });
      else
        console.log(
          `The adopter of order ${id} is erased, also from ${erased.answers} stored ${erased.answers === 1 ? 'answer' : 'answers'}. Backups keep what they hold until they are overwritten.`,
        );
    });
}
