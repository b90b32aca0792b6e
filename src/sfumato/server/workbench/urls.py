"""The addresses of the workbench; none holds a name or a value of the data."""

from django.urls import path

from sfumato.server.workbench import (
    analysis_view,
    attack_view,
    data_view,
    link_view,
    release_view,
    review_view,
    sign_view,
    start_view,
)

urlpatterns = [
    path("", start_view.first, name="first"),
    path("enter", start_view.enter, name="enter"),
    path("start", start_view.start, name="start"),
    path("start/folder", start_view.go_to, name="go_to"),
    path("start/open", start_view.open_files, name="open_files"),
    path("start/recent", start_view.open_recent, name="open_recent"),
    path("start/demo", start_view.open_demo, name="open_demo"),
    path("jobs", start_view.job, name="job"),
    path("undo", start_view.undo, name="undo"),
    path("redo", start_view.redo, name="redo"),
    path("take-over", start_view.take_over, name="take_over"),
    path("take-back", start_view.take_back, name="take_back"),
    path("window", start_view.window, name="window"),
    path("run", start_view.run, name="run"),
    path("jobs/<str:job_id>/stop", start_view.stop_job, name="stop_job"),
    path("jobs/<str:job_id>/resume", start_view.resume_job, name="resume_job"),
    path("data", data_view.data, name="data"),
    path("data/question", data_view.question, name="question"),
    path("data/values", data_view.show_values, name="show_values"),
    path("data/<int:number>", data_view.column, name="column"),
    path("data/<int:number>/role", data_view.role, name="role"),
    path("data/<int:number>/hierarchy", data_view.take_hierarchy, name="take_hierarchy"),
    path("data/<int:number>/recipe", data_view.take_recipe, name="take_recipe"),
    path("link", link_view.link, name="link"),
    path("link/threshold", link_view.take_threshold, name="take_threshold"),
    path("link/dedupe", link_view.dedupe, name="dedupe"),
    path("link/review-here", review_view.review_here, name="review_here"),
    path("link/desk", review_view.desk, name="desk"),
    path("link/desk/open", review_view.open_desk, name="open_desk"),
    path("link/desk/leave", review_view.leave_desk, name="leave_desk"),
    path("link/desk/<int:place>/<str:verb>", review_view.change_pair, name="change_pair"),
    path("release", release_view.release, name="release"),
    path("release/dots", release_view.dots, name="dots"),
    path("release/search", release_view.start_search, name="start_search"),
    path("release/promise", release_view.promise, name="promise"),
    path("release/controls", release_view.state_controls, name="state_controls"),
    path("release/pin", release_view.pin, name="pin"),
    path("release/values", release_view.show_values, name="show_rows"),
    path("release/<int:people>", release_view.detail, name="detail"),
    path("release/analysis", analysis_view.analysis, name="analysis"),
    path("attack", attack_view.attack, name="attack"),
    path("attack/knows", attack_view.knows, name="knows"),
    path("sign", sign_view.sign, name="sign"),
    path("sign/key", sign_view.make_key, name="make_key"),
    path("sign/accept", sign_view.accept, name="accept"),
    path("sign/decide", sign_view.decide, name="decide"),
]

handler400 = "sfumato.server.error_pages.bad_request"
handler403 = "sfumato.server.error_pages.forbidden"
handler404 = "sfumato.server.error_pages.not_found"
handler500 = "sfumato.server.error_pages.server_error"
