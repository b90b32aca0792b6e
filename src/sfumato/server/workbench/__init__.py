"""The local workbench: from files to a signed release in a browser, by one person on one machine.

How a place of it is written:

- A view is a function in ``NAME_view.py`` with ``@project_view("NAME")`` of `frame`, entered in
  `urls`. It gets ``(request, bench)``: `bench.Bench` is the open project. It gives back
  ``page(request, bench, "NAME", "workbench/NAME.html", key=value)``; the template extends
  ``workbench/frame.html`` and fills the block ``place``. What a view raises as `SfumatoError` is
  said on the message line.
- ``bench.place`` is the `ProjectFolder`, read anew for each request. ``bench.revision`` is the hash
  of the project file and of its inputs as they are now. ``bench.figure(name, make)`` computes once
  for a revision and keeps it as a `Figure`: value, kind (*counted*, *rough*, *sample*, *estimate*)
  and revision; ``of=key`` instead of the revision for what rests on less, such as the data alone.
- A click is a form: ``<form method="post" action="...">{% include "workbench/expected.html" %}``.
  Its view ends with ``return edited(request, bench, change, words, to="NAME")``: `change` takes the
  `tomlkit` document of the project file and alters keys in place, `words` says what was done,
  without a value. The edit is checked, written whole, and can be undone; the message line says it.
  A select with ``data-submit`` sends its form as it changes. Where the file was changed outside, or
  another window edits, `edited` answers with that page.
- A long computation is a kind in `jobs.KINDS`: ``module:function``, called in a process of its own
  as ``function(place, arguments, job)``. There ``job.tell({...})`` adds a JSON line, ``job.before``
  has the lines of an attempt that was killed, ``job.stopped()`` says whether to end. A view starts
  it by ``bench.jobs.start(kind, bench.revision, arguments)`` and reads ``job.lines``, ``job.state``
  of ``bench.jobs.latest(kind)``; ``bench.jobs.stop(job)`` ends it within a second or two,
  ``bench.jobs.resume(job, revision)`` goes on, of the same revision. A part of a page with
  ``hx-get hx-trigger="every 1s"`` polls; leave the trigger out once the job is over.
- `charts` draws: each chart is an SVG with the table of the same numbers.
- Texts go through gettext: ``{% translate %}`` and ``gettext``.
- Values of the data are shown only if ``bench.shows_values`` or ``bench.shows_rows``; counts
  below 5 never.
"""
